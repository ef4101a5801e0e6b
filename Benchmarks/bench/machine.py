"""What the machine tells of processes, and the programs of the benchmarks' own."""
import json
import os
import random
import shutil
import socket
import subprocess
import time
import urllib.request

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROJECT = os.path.dirname(HERE)
TOOL = os.path.join(HERE, ".build/release/RepriseBench")
REPRISE = os.environ.get("REPRISE_PROGRAM", os.path.join(PROJECT, ".build/release/reprise"))
#: An earlier program to measure beside it.
REPRISE_BEFORE = os.environ.get("REPRISE_BEFORE")
PACKAGES = {"nginx": "nginx-light", "varnishd": "varnish", "rclone": "rclone", "wrk": "wrk", "ffmpeg": "ffmpeg",
            "valgrind": "valgrind"}
TICKS = os.sysconf("SC_CLK_TCK")


def install():
    """Installs the servers and clients that are missing (Debian)."""
    missing = [package for command, package in PACKAGES.items()
               if not (shutil.which(command) or os.path.exists("/usr/sbin/" + command))]
    if not missing:
        return
    if not shutil.which("apt-get"):
        raise SystemExit("please install: " + " ".join(missing))
    print("installing", *missing)
    apt = ["apt-get"] if os.geteuid() == 0 else ["sudo", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    subprocess.run(apt + ["update", "-qq"], check=True, env=environment)
    subprocess.run(apt + ["install", "-y", "-qq", "--no-install-recommends"] + missing, check=True, env=environment,
                   stdout=subprocess.DEVNULL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process, seconds=20):
    """Waits until somebody listens on the port."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args[0]} ended with {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"nobody listens on {port}")


def tree(pid):
    """The process and all below it."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    parents.setdefault(int(file.read().rsplit(")", 1)[1].split()[1]), []).append(int(name))
            except OSError:
                pass
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop())
        todo += parents.get(found[-1], [])
    return found


def cpu_seconds(pid):
    """User and system time of the process and those below it."""
    ticks = 0
    for member in tree(pid):
        try:
            with open(f"/proc/{member}/stat") as file:
                words = file.read().rsplit(")", 1)[1].split()
            ticks += int(words[11]) + int(words[12])
        except OSError:
            pass
    return ticks / TICKS


def memory(pid):
    """Bytes of its own that the process holds (anonymous pages; not the files it serves)."""
    total = 0
    for member in tree(pid):
        try:
            with open(f"/proc/{member}/status") as file:
                total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))
        except OSError:
            pass
    return total


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def tool(command, **words):
    """Runs one of the bench tool's clients; its report."""
    line = [TOOL, command] + [f"{name.replace('_', '-')}={value}" for name, value in words.items()]
    return json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE).stdout)


def write_content(folder, kinds):
    """Files of random bytes, the same in every run; those of kind `holes` are empty but as long."""
    os.makedirs(folder, exist_ok=True)
    for name, (size, holes) in kinds.items():
        path = os.path.join(folder, name)
        if os.path.exists(path) and os.path.getsize(path) == size:
            continue
        generator = random.Random(size)
        with open(path, "wb") as file:
            if holes:
                file.truncate(size)
            else:
                for _ in range(size >> 20):
                    file.write(generator.randbytes(1 << 20))
                file.write(generator.randbytes(size % (1 << 20)))


def fetch(url, first=None, last=None):
    """A whole answer, or that of a range, for checking."""
    request = urllib.request.Request(url)
    if first is not None:
        request.add_header("Range", f"bytes={first}-{last}")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()
