"""The rows that are about what is paid: origin bytes, memory, descriptors."""
import concurrent.futures
import contextlib
import json
import os
import random
import socket
import subprocess
import threading
import time

from . import machine, servers

GIB, MIB, KIB = 1 << 30, 1 << 20, 1 << 10


def union(sent):
    """How many different bytes of objects were sent."""
    total, last, reach = 0, None, 0
    for path, start, end in sorted(sent):
        if path != last:
            last, reach = path, 0
        total += max(0, end - max(start, reach))
        reach = max(reach, end)
    return total


class Player:
    """A client as a player is one: asks, reads as much as it likes, leaves."""

    def __init__(self, url, range=None, buffer=64 * KIB):
        host, path = url.removeprefix("http://").split("/", 1)
        name, port = host.split(":")
        self.socket = socket.socket()
        # Small, so that what was read is near what was sent.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(120)
        self.socket.connect((name, int(port)))
        field = f"Range: bytes={range}\r\n" if range else ""
        self.socket.sendall(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\n{field}\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.socket.recv(2048)
            if not piece:
                raise RuntimeError(f"{url} was not answered")
            head += piece
        self.head, rest = head.split(b"\r\n\r\n", 1)
        if self.head.split()[1] not in (b"200", b"206"):
            raise RuntimeError(f"{url} was answered {self.head.split()[1].decode()}")
        self.count = len(rest)

    def read(self, until):
        """Reads until so many bytes of the body have come."""
        while self.count < until:
            piece = self.socket.recv(min(256 * KIB, until - self.count))
            if not piece:
                raise RuntimeError(f"the answer ended after {self.count} bytes")
            self.count += len(piece)

    def leave(self):
        self.socket.close()


def settle(origin, account=None):
    """What the origin sent until it has been quiet for a second and a half."""
    total = account or {"bytes": 0, "requests": 0, "connections": 0, "sent": [], "last_sent": 0}
    quiet = 0
    while quiet < 3:
        time.sleep(0.5)
        more = origin.account()
        quiet = 0 if more["bytes"] else quiet + 1
        for name in ("bytes", "requests", "connections"):
            total[name] += more[name]
        total["sent"] += more["sent"]
        total["last_sent"] = max(total["last_sent"], more["last_sent"])
    return total


def fresh(bench, kind):
    if kind is servers.Origin:
        return bench.origin
    return kind(bench.folder(kind), bench.content, bench.origin, bench.threads).start()


def discard(server, bench):
    if server is not bench.origin:
        server.discard()


@contextlib.contextmanager
def throttled(bench, kind):
    """A fresh server before an origin that gives 20 MB/s and begins to count anew."""
    server = fresh(bench, kind)
    try:
        bench.origin.rate(20_000_000)
        bench.origin.account()
        yield server
    finally:
        bench.origin.rate(0)
        discard(server, bench)


def jumps(bench):
    """20 random ranges of 256 KiB, then 10 MiB straight on, of a file of 1 GiB, at 20 MB/s; then all of it again."""
    row = "jumps"
    if not bench.wants(row):
        return
    generator = random.Random(20)
    starts = [generator.randrange(GIB - 16 * MIB) for _ in range(20)]
    plan = [(start, 256 * KIB) for start in starts] + [(starts[-1] + 256 * KIB, 10 * MIB)]
    unique = union([["", start, start + count] for start, count in plan])
    for kind in bench.caches:
        with throttled(bench, kind) as server:
            for turn in ("first time", "second time"):
                for start, count in plan:
                    player = Player(server.url("1g", "seek-0"), f"{start}-{start + count - 1}")
                    player.read(count)
                    player.leave()
                bench.note(row, server.label, f"origin/unique, {turn}",
                           settle_quickly(bench.origin, kind)["bytes"] / unique)


def settle_quickly(origin, kind):
    """Some fetch the whole file however little was asked for: what they send in a minute is enough to know."""
    if kind is servers.Varnish:
        origin.rate(0)
    return settle(origin)


def leaving(bench):
    """A client that leaves after 1 MiB of `bytes=0-`; the origin gives 20 MB/s from a small send buffer."""
    row = "leaving"
    if not bench.wants(row):
        return
    for kind in [servers.Origin] + bench.caches:
        with throttled(bench, kind) as server:
            for number in range(1 if kind is servers.Varnish else bench.rounds):
                player = Player(server.url("1g", f"leave-{number}"), "0-")
                player.read(MIB)
                player.leave()
                left = time.monotonic_ns()
                if kind is servers.Varnish:
                    # It would go on for a minute: the rest is fetched at once.
                    bench.origin.rate(0)
                account = settle(bench.origin)
                bench.note(row, server.label, "KiB more than delivered", (account["bytes"] - player.count) / KIB)
                if kind is not servers.Varnish:
                    bench.note(row, server.label, "ms until the origin is quiet",
                               max(0.0, (account["last_sent"] - left) / 1e6))


def fragmented(bench):
    """A fragmented mp4 that ffmpeg opens and goes through, at 20 MB/s; twice."""
    row = "fragmented mp4"
    if not bench.wants(row):
        return
    file = os.path.join(bench.content, "frag")
    if not os.path.exists(file):
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25", "-t", "60", "-c:v",
             "mpeg4", "-b:v", "6M", "-g", "25", "-movflags",
             "frag_keyframe+empty_moov+default_base_moof", "-f", "mp4", file], check=True)
    unique = None
    for kind in [servers.Origin] + bench.caches:
        with throttled(bench, kind) as server:
            for turn in ("first time", "second time"):
                subprocess.run(["ffmpeg", "-v", "error", "-i", server.url("frag", "frag-0"), "-c", "copy", "-f", "null",
                                "-"], check=True, stdout=subprocess.DEVNULL)
                account = settle(bench.origin)
                if kind is servers.Origin and unique is None:
                    unique = union(account["sent"])
                bench.note(row, server.label, f"origin/unique, {turn}", account["bytes"] / unique)


def stalled(bench):
    """200 clients of a stored file of 1 GiB that take 64 KiB and then nothing: the server's own memory, each."""
    row = "200 stalled clients"
    if not bench.wants(row):
        return
    for kind in servers.STATIC + bench.caches:
        server = fresh(bench, kind)
        players = []
        try:
            bench.fill(server, "1g", GIB)
            # One client first: what one needs once is not counted 200 times.
            Player(server.url("1g", "warm-0")).leave()
            before = machine.memory(server.pid)
            for _ in range(200):
                players.append(Player(server.url("1g", "warm-0")))
                players[-1].read(64 * KIB)
            time.sleep(1)
            bench.note(row, server.label, "KiB each", (machine.memory(server.pid) - before) / 200 / KIB)
        finally:
            for player in players:
                player.leave()
            discard(server, bench)


def long_pass(bench):
    """Memory over one cold pass of 4 GiB: the most in each quarter."""
    row = "4 GiB pass"
    if not bench.wants(row):
        return
    size = (1 if bench.quick else 4) * GIB
    for kind in [servers.Reprise, servers.NginxSlice]:
        server = fresh(bench, kind)
        done = threading.Event()
        samples = []

        def watch(pid=server.pid):
            while not done.wait(0.1):
                samples.append(machine.memory(pid))

        watcher = threading.Thread(target=watch)
        try:
            watcher.start()
            run = machine.tool("load", url=server.url("1g" if bench.quick else "4g", "cold-0"), size=size, count=1)
            bench.failures(row, server.label, run["failures"])
        finally:
            done.set()
            watcher.join()
            discard(server, bench)
        quarter = max(1, len(samples) // 4)
        for number, name in enumerate(("first", "second", "third", "last")):
            part = samples[number * quarter:(number + 1) * quarter] or samples[-1:]
            bench.note(row, server.label, f"MiB, {name} quarter", max(part) / MIB)


def short(bench):
    """1,000 connections a second of one small request each, every other one reset: descriptors before and after."""
    row = "short connections"
    if not bench.wants(row):
        return
    seconds = 10 if bench.quick else 60
    for kind in [servers.Reprise]:
        server = fresh(bench, kind)
        try:
            bench.fill(server, "8m", 8 * MIB)
            before, memory = machine.descriptors(server.pid), machine.memory(server.pid)
            run = machine.tool("short", url=server.url("8m", "warm-0"), per_second=1000, seconds=seconds)
            time.sleep(1)
            bench.note(row, server.label, "connections a second", run["requests"] / run["seconds"])
            bench.note(row, server.label, "p99 ms", run["p99_ms"])
            bench.note(row, server.label, "descriptors left", machine.descriptors(server.pid) - before)
            bench.note(row, server.label, "MiB more memory", (machine.memory(server.pid) - memory) / MIB)
            bench.failures(row, server.label, run["failures"])
        finally:
            discard(server, bench)


def many(bench):
    """A store of 100,000 entries (10,000 in a quick run): its first answer after a start, its memory, a list of it, and what
    goes where half of it has to."""
    row = "many entries"
    if not bench.wants(row):
        return
    count = 10_000 if bench.quick else 100_000
    server = fresh(bench, servers.Reprise)
    try:
        # Several at once: one alone mostly waits for the disk.
        parts = 4
        with concurrent.futures.ThreadPoolExecutor(parts) as pool:
            list(pool.map(lambda part: machine.tool(
                "first-byte", url=server.url("4k", "many-%"), size=4 * KIB, range=4 * KIB, count=count // parts,
                first=1 + part * (count // parts), seed=1), range(parts)))
        for _ in range(2):
            server.stop()
            server.start(is_fresh=False)
            begun = time.monotonic()
            machine.fetch(server.url("4k", f"many-{count // 2}"), 0, 4 * KIB - 1)
            bench.note(row, server.label, "ms, first answer", (time.monotonic() - begun) * 1000)
            # The first finds in memory what the kernel has kept of 300,000 small files; that is a figure of the machine.
            for figure in ("s, first ls", "s, ls"):
                begun = time.monotonic()
                listed = subprocess.run([machine.REPRISE, "ls", "--directory", server.folder + "/store"], check=True,
                                        stdout=subprocess.PIPE, text=True).stdout
                bench.note(row, server.label, figure, time.monotonic() - begun)
            if listed.count("many-") != count:
                raise RuntimeError(f"{listed.count('many-')} of {count} entries are listed")
            bench.note(row, server.label, "MiB, memory", machine.memory(server.pid) / MIB)
        server.stop()
        halve(bench, row, server, again=f"many-{count // 2}.mp4")
    finally:
        discard(server, bench)


def halve(bench, row, server, again):
    """Half of a store has to go: how long that takes, and how many went while something older stayed. `again` was used in
    several sessions, which is a reason to stay."""
    place = ["--directory", server.folder + "/store"]

    def entries():
        lines = subprocess.run([machine.REPRISE, "du", "--json"] + place, check=True, stdout=subprocess.PIPE).stdout
        return {entry["key"]: entry for entry in map(json.loads, lines.splitlines())}

    before = entries()
    limit = sum(entry["allocated"] for entry in before.values()) // 2
    begun = time.monotonic()
    subprocess.run([machine.REPRISE, "gc"] + place, check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, REPRISE_LIMIT=str(limit)))
    bench.note(row, server.label, "s, evicting half", time.monotonic() - begun)
    after = entries()
    if not 0 < sum(entry["allocated"] for entry in after.values()) <= limit:
        raise RuntimeError(f"{len(after)} of {len(before)} entries are left, which is not half of the store")
    oldest = min(entry["lastUse"] for key, entry in after.items() if not key.endswith(again))
    bench.note(row, server.label, "evicted before older",
               sum(entry["lastUse"] > oldest for key, entry in before.items() if key not in after))


def all_rows(bench):
    for row in (jumps, leaving, fragmented, stalled, long_pass, short, many):
        row(bench)
