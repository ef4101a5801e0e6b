"""What the endurance runs share: an origin whose objects change, and the real server."""
import contextlib
import http.server
import os
import pathlib
import random
import resource
import subprocess
import sys
import threading
import time
import urllib.request

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("REPRISE_PROGRAM", str(ROOT / ".build/release/reprise"))
MIB = 1 << 20


class Origin(http.server.ThreadingHTTPServer):
    """Ranges of objects that are made up as they are asked for, each answer at so many bytes a second.

    An object's entity tag is the number of its generation; every generation has other bytes, and its length."""
    daemon_threads = True
    # Python's 5 lets connections wait for seconds once they all come at once.
    request_queue_size = 128
    PIECE = 65_536

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            origin = self.server
            generation = origin.generations.get(self.path, 1)
            body, tag = origin.body(self.path, generation), f'"{generation}"'
            first, last = 0, len(body) - 1
            words = self.headers.get("Range", "").removeprefix("bytes=").split("-")
            isPart = len(words) == 2 and words[0] != "" and self.headers.get("If-Range", tag) == tag
            if isPart:
                first, last = int(words[0]), min(int(words[1] or last), last)
            if first > last:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(body)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206 if isPart else 200)
            if isPart:
                self.send_header("Content-Range", f"bytes {first}-{last}/{len(body)}")
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(last + 1 - first))
            self.send_header("Content-Type", "video/mp4")
            self.send_header("ETag", tag)
            self.end_headers()
            with contextlib.suppress(OSError):
                for position in range(first, last + 1, origin.PIECE):
                    self.wfile.write(body[position:min(position + origin.PIECE, last + 1)])
                    time.sleep(origin.PIECE / origin.rate)

        def log_message(self, *_):
            pass

    def __init__(self, length, rate):
        """`length` of a path, in bytes; `rate` in bytes a second."""
        super().__init__(("127.0.0.1", 0), Origin.Handler)
        self.length, self.rate, self.generations, self.bodies = length, rate, {}, {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def body(self, path, generation=1):
        found = self.bodies.get((path, generation))
        if found is None:
            found = self.bodies[path, generation] = random.Random(f"{path} {generation}").randbytes(self.length(path))
        return found

    def change(self, path):
        self.generations[path] = self.generations.get(path, 1) + 1

    def handle_error(self, request, address):
        """A client that leaves is no error."""


@contextlib.contextmanager
def serving(store, more, port=0, descriptors=None):
    """The server: its process, and the port it listens on. Ends it if it still runs. `descriptors` bounds those that it may have."""
    def bound():
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    process = subprocess.Popen([PROGRAM, "serve", "--no-token", "--port", str(port), "--directory", store] + more,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=bound if descriptors else None)
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server needs a hand: {process.stderr.read().strip()}")
        for pipe in (process.stdout, process.stderr):
            threading.Thread(target=pipe.read, daemon=True).start()
        yield process, int(line.strip().split(":")[-1])
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait()


def memory(process):
    """What the process has in memory of its own, in bytes."""
    with open(f"/proc/{process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) * 1024


def descriptors(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def make_disk(image, size):
    """An image with an empty file system; needs mkfs.ext4."""
    with open(image, "wb") as file:
        file.truncate(size)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)


@contextlib.contextmanager
def mounted(image, folder):
    """The image as a disk; needs root."""
    os.makedirs(folder, exist_ok=True)
    subprocess.run(["mount", "-o", "loop", image, folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def read(port, origin, path, range=None):
    """The bytes, half-open, and the entity tag they came with."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/http/127.0.0.1:{origin.server_port}{path}")
    if range:
        request.add_header("Range", f"bytes={range[0]}-{range[1] - 1}")
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read(), answer.headers.get("ETag", "")
