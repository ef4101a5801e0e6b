"""Counts the instructions of fixed work on floors 0-3 and compares them with Benchmarks/instructions.json.

    scripts/checks/instructions            says which row rose by more than the tolerance, and fails where one did
    scripts/checks/instructions --accept   writes what was counted into the file (make instructions-accept)

Instructions, not time: they are the same on a busy machine. What the kernel does is not counted. On x86-64 Linux only, as
another processor's are others. COUNTS names a program that is built already.
"""
import concurrent.futures
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILE = os.path.join(PROJECT, "Benchmarks/instructions.json")
PROGRAM = os.environ.get("COUNTS", os.path.join(PROJECT, ".build/release/RepriseCounts"))
# The C library picks its way of copying memory by processor and cache: the same everywhere, or rows would not compare.
SAME_EVERYWHERE = {
    "SWIFT_DETERMINISTIC_HASHING": "1",
    "GLIBC_TUNABLES": ":".join([
        "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-ERMS,-FSRM,-AVX_Fast_Unaligned_Load",
        "glibc.cpu.x86_non_temporal_threshold=0x10000000", "glibc.cpu.x86_rep_movsb_threshold=0x10000000"]),
}


def is_possible():
    return platform.machine() == "x86_64" and sys.platform.startswith("linux")


def build():
    if "COUNTS" not in os.environ:
        subprocess.run([os.path.join(PROJECT, "scripts/build"), "--traits", "Server", "-c", "release", "--product",
                        "RepriseCounts"], check=True, cwd=PROJECT)


def count(*words):
    """Instructions of one turn of each row whose name holds one of the words; start-up and preparation are left out."""
    environment = dict(os.environ, **SAME_EVERYWHERE)
    listed = subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    rows = [line.rsplit(" ", 2)[:2] for line in listed.splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        # This valgrind does not read the compiler's newer debug information; names are all it needs.
        program = os.path.join(folder, "counted")
        subprocess.run(["strip", "--strip-debug", "-o", program, PROGRAM], check=True)

        def total(row):
            # A process a row: what one leaves behind in memory is not another's cost.
            run = subprocess.run(
                ["valgrind", "--tool=callgrind", "--toggle-collect=*RepriseCounts8measured*",
                 f"--callgrind-out-file={folder}/out.%p", program, row],
                env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            found = re.search(r"Collected : (\d+)", run.stderr)
            if run.returncode or not found or int(found[1]) == 0 or len(run.stdout.splitlines()) != 1:
                raise SystemExit(f"{row}: could not be counted, ended with {run.returncode}\n{run.stdout}{run.stderr}")
            return int(found[1])

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            totals = pool.map(total, [name for name, _ in rows])
            return {name: total / int(turns) for (name, turns), total in zip(rows, totals)}


def main():
    if not is_possible():
        print("instructions are counted on x86-64 Linux only")
        return 0
    if not shutil.which("valgrind"):
        raise SystemExit("valgrind is missing; install it with: scripts/install-tools")
    build()
    found = {name: round(value) for name, value in count().items()}
    with open(FILE) as file:
        kept = json.load(file)
    if "--accept" in sys.argv[1:]:
        kept["instructions"] = found
        with open(FILE, "w") as file:
            json.dump(kept, file, indent=2)
            file.write("\n")
    tolerance, wrong, fell = kept["tolerance"], 0, 0
    for name in list(found) + [name for name in kept["instructions"] if name not in found]:
        old, new = kept["instructions"].get(name), found.get(name)
        word = ""
        if old is None or new is None:
            word = "is new" if old is None else f"is gone, was {old}"
            wrong += 1
        elif abs(new / old - 1) > tolerance:
            word = f"{'rose' if new > old else 'fell'} by {abs(new / old - 1):.0%}, was {old}"
            wrong += new > old
            fell += new < old
        print(f"{'' if new is None else new:>9} {name:70} {word}".rstrip())
    if fell:
        print(f"\n{fell} rows fell: `make instructions-accept` keeps them there.")
    if wrong:
        print(f"\n{wrong} rows are not what Benchmarks/instructions.json has, or up to {tolerance:.0%} more. If that is meant, run\n"
              "`make instructions-accept` and say in the commit why.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
