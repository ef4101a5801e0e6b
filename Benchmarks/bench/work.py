"""The rows of fixed work: sets of byte ranges in three sizes, by the clock and in instructions."""
import shutil
import subprocess

from . import instructions

FIGURES = {"insert and remove": "insert and remove", "contains": "contains", "gaps of 8 fragments": "gaps"}


def ranges(bench):
    """Each operation alone, in a set of 10, 1,000 and 100,000 fragments; what is beside the clock does not depend on load."""
    rows = {size: f"ByteRangeSet, {size:,} fragments" for size in (10, 1_000, 100_000)}
    if not any(bench.wants(row) for row in rows.values()):
        return
    instructions.build()
    counted = instructions.count("ranges, ") if instructions.is_possible() and shutil.which("valgrind") else {}
    for round in range(bench.rounds):
        run = subprocess.run([instructions.PROGRAM, "ranges, "], check=True, stdout=subprocess.PIPE, text=True)
        for line in run.stdout.splitlines():
            name, turns, nanoseconds = line.rsplit(" ", 2)
            size, operation = name.removeprefix("ranges, ").split(" fragments: ")
            row = rows[int(size)]
            if operation not in FIGURES or not bench.wants(row):
                continue
            bench.note(row, "Reprise", f"ns, {FIGURES[operation]}", int(nanoseconds) / int(turns))
            if round == 0 and name in counted:
                bench.note(row, "Reprise", f"instructions, {FIGURES[operation]}", counted[name])


def all_rows(bench):
    ranges(bench)
