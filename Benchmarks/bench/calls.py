"""Counts the system calls of a stored range that the server answers on a connection that stays open.

    scripts/checks/calls            fails where an answer takes more than the limits below

What only waits or wakes (epoll, futex) differs from run to run and is printed beside; so does a `sendfile` that its client's full
socket cut short, as another must follow however the server is written. On Linux only. REPRISE_PROGRAM names a program that is
built already.
"""
import collections
import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "endurance"))
import rig

CUT_SHORT = "sendfile, cut short"
WAITING = {"epoll_wait", "epoll_pwait", "epoll_ctl", "futex", "restart_syscall", "sched_yield", CUT_SHORT}
#: Bytes of a range, and how many calls its answer may take: receive, whether the body was changed by others, whether it is in memory
#: (twice where it is long, at both of its ends), send the head, send the bytes.
LIMITS = {4_096: 5, 65_536: 5, 1_048_576: 6}
ANSWERS = 1000


def traced(folder, process, port, origin, range_bytes):
    """Calls by name while the answers are sent."""
    report = os.path.join(folder, f"trace.{range_bytes}")
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def ask():
        connection.request("GET", f"/http/127.0.0.1:{origin.server_port}/film",
                           headers={"Range": f"bytes={range_bytes}-{2 * range_bytes - 1}"})
        if len(connection.getresponse().read()) != range_bytes:
            raise SystemExit("an answer was not whole")

    ask()
    tracer = subprocess.Popen(["strace", "-f", "-o", report, "-p", str(process.pid)], stderr=subprocess.PIPE, text=True)
    if "attached" not in (told := tracer.stderr.readline()):
        print(f"system calls are not counted, as this machine does not let the server be traced: {told.strip()}")
        raise SystemExit(0)
    for _ in range(ANSWERS):
        ask()
    tracer.send_signal(signal.SIGINT)
    tracer.communicate(timeout=60)
    connection.close()
    with open(report) as file:
        return counted(file)


def counted(report):
    """Calls by name in what strace wrote; `sendfile, cut short` for those that a full socket took less of than it was given."""
    calls = collections.Counter()
    for line in report:
        # A call that another thread's interrupts has two lines; the second has how many bytes were asked for, and the result.
        if begun := re.match(r"\d+ +(\w+)\(", line):
            calls[begun[1]] += 1
        if (ended := re.match(r"\d+ .*\bsendfile\b.*, (\d+)\) += (-?\d+)", line)) and int(ended[2]) < int(ended[1]):
            calls["sendfile"] -= 1
            calls[CUT_SHORT] += 1
    return calls


def main():
    if not sys.platform.startswith("linux"):
        print("system calls are counted on Linux only")
        return 0
    if not shutil.which("strace"):
        raise SystemExit("strace is missing; install it with: scripts/install-tools")
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="reprise-calls-") as folder:
        origin = rig.Origin(lambda path: 4 * rig.MIB, 1e9)
        with rig.serving(os.path.join(folder, "store"), []) as (process, port):
            rig.read(port, origin, "/film")
            for range_bytes, limit in LIMITS.items():
                each = {name: count / ANSWERS for name, count in traced(folder, process, port, origin, range_bytes).items()}
                works = {name: count for name, count in each.items() if name not in WAITING and count > 0.01}
                waits = sum(count for name, count in each.items() if name in WAITING)
                total = sum(works.values())
                told = ", ".join(f"{name} {count:.2f}" for name, count in sorted(works.items(), key=lambda one: -one[1]))
                print(f"a stored range of {range_bytes // 1024} KiB: {total:.2f} calls ({told}), and {waits:.1f} that wait or wake")
                if total > limit + 0.1:
                    print(f"more than {limit}")
                    wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
