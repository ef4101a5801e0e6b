"""What the measurements come to: a table in Markdown, JSON, a chart."""
import html
import json
import os
import platform
import statistics
import subprocess

from . import machine

# The row, the figure, how Reprise (or whom the last word names) has to stand to whom, and the goal it must meet and the
# one it aims at.
GOALS = [
    ("warm 64 KiB", "MB/s", "nginx static", ">=", 0.75, 1.0),
    ("warm 1 MiB", "MB/s", "nginx static", ">=", 0.9, 1.0),
    ("warm 1 GiB", "MB/s", "nginx static", ">=", 0.95, 1.0),
    ("warm 64 KiB", "CPU s/GB", "nginx static", "<=", 1.6, None),
    ("warm 1 MiB", "CPU s/GB", "nginx static", "<=", 1.3, None),
    ("warm 64 KiB", "MB/s", "nginx copying", ">=", 0.5, None, "Reprise sealed"),
    ("warm 1 MiB", "MB/s", "nginx copying", ">=", 0.6, None, "Reprise sealed"),
    ("cold 1 GiB", "MB/s", "nginx slice", ">=", 1.0, 1.5),
    ("cold 1 GiB at 100 MB/s", "MB/s", "direct", ">=", 0.97, None),
    ("cold first byte", "ms", "direct", "+<=", 0.6, 0.3),
    ("jumps", "origin/unique, first time", None, "<=", 1.05, None),
    ("jumps", "origin/unique, second time", None, "<=", 0.0, None),
    ("leaving", "KiB more than delivered", None, "<=", 512, None),
    ("leaving", "ms until the origin is quiet", None, "<=", 100, None),
    ("fragmented mp4", "origin/unique, first time", None, "<=", 1.1, None),
    ("200 stalled clients", "KiB each", None, "<=", 32, None),
    ("short connections", "descriptors left", None, "<=", 0, None),
    ("many entries", "ms, first answer", None, "<=", 50, None),
    ("many entries", "s, ls", None, "<=", 2, None),
    ("many entries", "MiB, memory", None, "<=", 100, None),
    ("many entries", "evicted before older", None, "<=", 0, None),
]
ROWS = ["warm 64 KiB", "warm 64 KiB, wrk", "warm 1 MiB", "warm 1 GiB", "1 GiB after reopening",
        "1 GiB, second pass after reopening", "cold 1 GiB", "cold 1 GiB at 100 MB/s", "cold first byte", "jumps", "leaving",
        "fragmented mp4", "200 stalled clients", "4 GiB pass", "short connections", "many entries",
        "ByteRangeSet, 10 fragments", "ByteRangeSet, 1,000 fragments", "ByteRangeSet, 100,000 fragments"]
SERVERS = ["Reprise", "Reprise before", "Reprise sealed", "nginx static", "nginx copying", "nginx slice", "Varnish", "rclone", "direct"]


def number(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def medians(notes):
    order = {row: number for number, row in enumerate(ROWS)}
    keys = sorted(notes, key=lambda key: order.get(key[0], len(ROWS)))
    return {key: statistics.median(notes[key]) for key in keys}


def verdicts(notes):
    """Where Reprise stands to each goal: the value is the median of ratios within a round where there are rounds."""
    found = []
    for row, figure, other, relation, must, aim, *subject in GOALS:
        server = subject[0] if subject else "Reprise"
        ours = notes.get((row, server, figure))
        theirs = notes.get((row, other, figure)) if other else None
        if not ours or other and not theirs:
            continue
        if other is None:
            value = statistics.median(ours)
        elif relation == "+<=":
            value = statistics.median(ours) - statistics.median(theirs)
        elif len(ours) == len(theirs):
            value = statistics.median(a / b for a, b in zip(ours, theirs) if b)
        else:
            value = statistics.median(ours) / statistics.median(theirs)
        meets = value >= must if relation == ">=" else value <= must
        aims = None if aim is None else value >= aim if relation == ">=" else value <= aim
        found.append({"row": row, "server": server, "figure": figure, "beside": other, "relation": relation,
                      "value": value, "must": must, "aim": aim, "meets": meets, "meets_aim": aims})
    return found


def describe():
    """The machine and the versions, as far as they matter."""
    def first_line(*command):
        try:
            run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            return run.stdout.strip().split("\n")[0]
        except OSError:
            return "?"

    with open("/proc/cpuinfo") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return {
        "processor": f"{len(names)} × {names[0]}" if names else platform.machine(),
        "kernel": ".".join(platform.release().split(".")[:2]),
        "nginx": first_line("nginx", "-v").removeprefix("nginx version: "),
        "varnish": first_line("varnishd", "-V").removeprefix("varnishd (").split(" ")[0],
        "rclone": first_line("rclone", "version"),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def markdown(bench):
    middle = medians(bench.notes)
    rows = {}
    for row, server, figure in middle:
        rows.setdefault((row, figure), []).append(server)
    shown = [server for server in SERVERS if any(server in servers for servers in rows.values())]
    lines = ["| row | figure | " + " | ".join(shown) + " |", "|---|---|" + "---:|" * len(shown)]
    for (row, figure), _ in rows.items():
        cells = [number(middle[row, server, figure]) if (row, server, figure) in middle else "" for server in shown]
        lines.append(f"| {row} | {figure} | " + " | ".join(cells) + " |")
    lines += ["", "| Reprise | beside | value | must | aim | |", "|---|---|---:|---:|---:|---|"]
    for goal in verdicts(bench.notes):
        sign = {">=": "≥ ", "<=": "≤ ", "+<=": "≤ + "}[goal["relation"]]
        state = "met" if goal["meets"] else "**missed**"
        if goal["meets_aim"]:
            state = "met, aim too"
        aim = "" if goal["aim"] is None else sign + number(goal["aim"])
        must = sign + number(goal["must"])
        sealed = ", sealed" if goal["server"] != "Reprise" else ""
        lines.append(f"| {goal['row']}{sealed}: {goal['figure']} | {goal['beside'] or ''} | {number(goal['value'])} | "
                     f"{must} | {aim} | {state} |")
    failed = {key: count for key, count in bench.failed.items() if count}
    if failed:
        lines += ["", "Answers that failed: " + ", ".join(f"{row}, {server}: {count}"
                                                          for (row, server), count in failed.items())]
    return "\n".join(lines)


def chart(bench):
    """Bars beside each other: throughput of the speed rows, as a share of the best of each row."""
    middle = medians(bench.notes)
    rows = []
    for row, _, figure in middle:
        if figure == "MB/s" and row not in rows:
            rows.append(row)
    colours = {"Reprise": "#d9480f", "Reprise sealed": "#ffa94d", "nginx static": "#1c7ed6",
               "nginx copying": "#339af0", "nginx slice": "#74c0fc", "Varnish": "#868e96", "rclone": "#ced4da",
               "direct": "#343a40"}
    width, bar, left, y, parts = 760, 16, 210, 40, []
    for row in rows:
        values = {server: middle[row, server, "MB/s"] for server in SERVERS if (row, server, "MB/s") in middle}
        best = max(values.values())
        parts.append(f'<text x="8" y="{y + 12}" font-weight="bold">{html.escape(row)}</text>')
        for server, value in values.items():
            length = max(1, (width - left - 110) * value / best)
            parts.append(f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{server}</text>'
                         f'<rect x="{left}" y="{y + 1}" width="{length:.1f}" height="{bar - 3}" '
                         f'fill="{colours[server]}"/>'
                         f'<text x="{left + length + 6:.1f}" y="{y + 12}">{number(value)} MB/s</text>')
            y += bar
        y += 14
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" font-family="sans-serif" '
            f'font-size="12"><rect width="100%" height="100%" fill="white"/>'
            f'<text x="8" y="20" font-size="14">Throughput, medians; longer is better</text>' + "".join(parts) + "</svg>\n")


BEGIN, END = "<!-- results: written by make bench -->", "<!-- end of results -->"


def keep_other_rows(bench, folder):
    """Rows that were not measured this time stay as they were."""
    path = os.path.join(folder, "results.json")
    if not os.path.exists(path):
        return
    measured = {row for row, _, _ in bench.notes}
    with open(path) as file:
        for entry in json.load(file)["medians"]:
            if entry["row"] not in measured:
                bench.notes[entry["row"], entry["server"], entry["figure"]] = entry["samples"]


def write(bench, folder):
    os.makedirs(folder, exist_ok=True)
    facts = describe()
    if bench.publishes:
        keep_other_rows(bench, folder)
    table = markdown(bench)
    data = {"machine": facts, "threads": bench.threads, "rounds": bench.rounds, "quick": bench.quick,
            "medians": [{"row": row, "server": server, "figure": figure, "median": value,
                         "samples": bench.notes[row, server, figure]}
                        for (row, server, figure), value in medians(bench.notes).items()],
            "goals": verdicts(bench.notes)}
    with open(os.path.join(folder, "results.json"), "w") as file:
        json.dump(data, file, indent=1)
    with open(os.path.join(folder, "results.md"), "w") as file:
        file.write(table + "\n")
    if any(figure == "MB/s" for _, _, figure in bench.notes):
        with open(os.path.join(folder, "throughput.svg"), "w") as file:
            file.write(chart(bench))
    print("\n" + table)
    if not bench.publishes:
        return
    page = os.path.join(machine.PROJECT, "docs/benchmarks.md")
    with open(page) as file:
        text = file.read()
    head, rest = text.split(BEGIN, 1)
    tail = rest.split(END, 1)[1]
    words = ", ".join(f"{name} {value}" if name in ("kernel", "load") else value for name, value in facts.items())
    told = (f"Measured on {words}; {bench.threads} thread{'s' if bench.threads > 1 else ''} a server, "
            f"{bench.rounds} rounds, medians. Load is that of the machine when the run ended.")
    with open(page, "w") as file:
        file.write(f"{head}{BEGIN}\n\n{told}\n\n{table}\n\n{END}{tail}")
    if os.path.exists(os.path.join(folder, "throughput.svg")):
        with open(os.path.join(machine.PROJECT, "docs/benchmarks.svg"), "w") as file:
            file.write(chart(bench))
