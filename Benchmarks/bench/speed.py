"""The rows that are about speed: every server in turn, several rounds, so that what else the machine does meets all."""
import os
import random
import re
import subprocess

from . import machine, servers

GIB, MIB, KIB = 1 << 30, 1 << 20, 1 << 10


def check(server, content, size, seed):
    """A benchmark of wrong bytes is none: some ranges are compared first."""
    generator = random.Random(seed)
    with open(content, "rb") as file:
        for _ in range(4):
            first = generator.randrange(size - 70_000)
            file.seek(first)
            if machine.fetch(server.url("1g", "warm-0"), first, first + 65_535) != file.read(65_536):
                raise RuntimeError(f"{server.label} serves wrong bytes at {first}")


def load(bench, row, server, name, **words):
    """Clients at an object of 1 GiB: notes throughput, processor time and failures; what the clients report."""
    before = machine.cpu_seconds(server.pid)
    run = machine.tool("load", url=server.url("1g", name), size=GIB, **words)
    cpu = machine.cpu_seconds(server.pid) - before
    bench.note(row, server.label, "MB/s", run["bytes"] / run["seconds"] / 1e6)
    bench.note(row, server.label, "CPU s/GB", cpu / (run["bytes"] / 1e9))
    bench.failures(row, server.label, run["failures"])
    return run


def warm(bench):
    """What is stored, as fast as it can be had: ranges of 64 KiB, of 1 MiB, and the whole."""
    running = [kind(bench.folder(kind), bench.content, bench.origin, bench.threads)
               for kind in servers.STATIC + bench.caches + bench.sealed]
    rows = [("warm 64 KiB", 64 * KIB, 8), ("warm 1 MiB", MIB, 8), ("warm 1 GiB", 0, 2)]
    wanted = [row for row in rows if bench.wants(row[0])]
    if not wanted and not bench.wants("after reopening") and not bench.wants("warm 64 KiB, wrk"):
        return
    try:
        for server in running:
            server.start()
            bench.fill(server, "1g", GIB)
            check(server, os.path.join(bench.content, "1g"), GIB, 7)
        for round in range(bench.rounds):
            for row, size, connections in wanted:
                for server in bench.turn(running, round):
                    limits = {"milliseconds": bench.milliseconds} if size else {"count": 1 if bench.quick else 2}
                    run = load(bench, row, server, "warm-0", range=size, connections=connections, seed=round + 1,
                               **limits)
                    bench.note(row, server.label, "p99 ms", run["p99_ms"])
            by_wrk(bench, running, round)
        if bench.wants("after reopening"):
            reopened(bench, running)
    finally:
        for server in running:
            server.discard()


def by_wrk(bench, running, round):
    """Ranges of 64 KiB once more, by a client of somebody else's that copies what it gets."""
    row = "warm 64 KiB, wrk"
    if not bench.wants(row):
        return
    for server in bench.turn(running, round):
        run = subprocess.run(
            ["wrk", "-t1", "-c8", f"-d{max(1, bench.milliseconds // 1000)}", "-s", os.path.join(machine.HERE, "ranges.lua"),
             server.url("1g", "warm-0")],
            check=True, stdout=subprocess.PIPE, text=True).stdout
        bench.note(row, server.label, "requests/s", float(re.search(r"Requests/sec:\s+([\d.]+)", run)[1]))
        failed = re.search(r"Non-2xx or 3xx responses: (\d+)", run)
        bench.failures(row, server.label, int(failed[1]) if failed else 0)


def reopened(bench, running):
    """Reprise verifies stored bytes before it hands them out again: the first pass after a start, beside nginx."""
    for round in range(bench.rounds):
        for server in running:
            if server.label not in ("Reprise", "nginx static"):
                continue
            server.stop()
            server.start(is_fresh=False)
            for row in ("1 GiB after reopening", "1 GiB, second pass after reopening"):
                load(bench, row, server, "warm-0", count=1)


def cold(bench):
    """1 GiB nobody asked for before, the origin unthrottled and at 100 MB/s; servers are fresh each time."""
    for row, rate, rounds in (("cold 1 GiB", 0, bench.rounds), ("cold 1 GiB at 100 MB/s", 100_000_000, bench.slow_rounds)):
        if not bench.wants(row):
            continue
        for round in range(rounds):
            for kind in bench.turn([servers.Origin] + bench.caches, round):
                bench.origin.rate(rate)
                direct = kind is servers.Origin
                server = bench.origin if direct else kind(
                    bench.folder(kind), bench.content, bench.origin, bench.threads).start()
                try:
                    # The first request of a process opens what later ones find open.
                    machine.tool("load", url=server.url("8m", "cold-1"), size=8 * MIB, count=1)
                    load(bench, row, server, "cold-0", count=1)
                finally:
                    bench.origin.rate(0)
                    if not direct:
                        server.discard()


def first_byte(bench):
    """How much later than from the origin itself the first byte of a range comes, of objects not seen before."""
    row = "cold first byte"
    if not bench.wants(row):
        return
    running = [bench.origin] + [kind(bench.folder(kind), bench.content, bench.origin, bench.threads).start()
                                for kind in bench.caches]
    try:
        for server in running:
            # Opens connections and lists what has to be listed.
            machine.tool("load", url=server.url("8m", "first-0"), size=8 * MIB, range=64 * KIB, count=1)
        batch = 10
        for round in range(bench.rounds):
            for server in bench.turn(running, round):
                run = machine.tool("first-byte", url=server.url("8m", "first-%"), size=8 * MIB, range=64 * KIB,
                                   count=batch, first=1 + (round * batch) % 70, seed=round + 1)
                for time in run["times_ms"]:
                    bench.note(row, server.label, "ms", time)
    finally:
        for server in running[1:]:
            server.discard()


def all_rows(bench):
    warm(bench)
    cold(bench)
    first_byte(bench)
