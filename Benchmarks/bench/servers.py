"""The servers that are measured beside each other. Each is started with the same number of threads for clients."""
import json
import os
import shutil
import signal
import subprocess
import urllib.request

from . import machine


class Server:
    """A process that serves /KIND/NAME."""
    label = ""

    def __init__(self, folder, content, origin, threads):
        self.folder, self.content, self.origin, self.threads = folder, content, origin, threads
        self.port = machine.free_port()
        self.process = None

    def command(self):
        raise NotImplementedError

    def start(self, is_fresh=True):
        if is_fresh:
            shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, "log")
        with open(path, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, env=self.environment())
        try:
            machine.wait_for(self.port, self.process)
        except RuntimeError as error:
            with open(path, errors="replace") as log:
                raise RuntimeError(f"{error}: {log.read()[-1000:]}") from error
        return self

    def environment(self):
        return dict(os.environ)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None

    def discard(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, kind, name):
        return f"http://127.0.0.1:{self.port}/{kind}/{name}.mp4"

    @property
    def pid(self):
        return self.process.pid

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path


NGINX = """
{user}worker_processes {threads};
daemon off;
pid {folder}/pid;
error_log {folder}/errors;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    sendfile {sendfile};
    tcp_nopush off;  # on, it waits at the end of every answer
    tcp_nodelay on;
    keepalive_requests 1000000000;
    open_file_cache max=1000;
    default_type video/mp4;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/temporary;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {more}
}}
"""


class Nginx(Server):
    more = ""
    sendfile = "on"

    def command(self):
        values = {"port": self.port, "folder": self.folder, "content": self.content,
                  "origin": self.origin.port if self.origin else 0}
        more = self.more
        for name, value in values.items():
            more = more.replace("@" + name, str(value))
        user = "user root;\n" if os.geteuid() == 0 else ""
        path = self.write("nginx.conf", NGINX.format(
            user=user, threads=self.threads, folder=self.folder, sendfile=self.sendfile, more=more))
        return [shutil.which("nginx") or "/usr/sbin/nginx", "-c", path, "-p", self.folder]


class NginxStatic(Nginx):
    label = "nginx static"
    more = r"""
    server {
        listen 127.0.0.1:@port backlog=1024;
        location ~ ^/(?<kind>[^/]+)/[^/]+$ { alias @content/$kind; }
    }"""


class NginxCopying(NginxStatic):
    """What sealed bytes are measured against: nobody can send them from the file."""
    label = "nginx copying"
    sendfile = "off"


class NginxSlice(Nginx):
    label = "nginx slice"
    more = r"""
    upstream origin { server 127.0.0.1:@origin; keepalive 16; }
    proxy_cache_path @folder/cache levels=1:2 keys_zone=media:32m max_size=64g inactive=1d use_temp_path=off;
    server {
        listen 127.0.0.1:@port backlog=1024;
        location / {
            slice 1m;
            proxy_cache media;
            proxy_cache_key $uri$slice_range;
            proxy_set_header Range $slice_range;
            proxy_set_header Connection "";
            proxy_http_version 1.1;
            proxy_cache_valid 200 206 1d;
            proxy_pass http://origin;
        }
    }"""


class Varnish(Server):
    label = "Varnish"

    def command(self):
        vcl = self.write("default.vcl", f"""vcl 4.1;
backend default {{ .host = "127.0.0.1"; .port = "{self.origin.port}"; }}
sub vcl_backend_response {{ set beresp.ttl = 1d; }}
""")
        # Its threads wait for one client each; pools are what is nearest to a number of threads.
        return ["varnishd" if shutil.which("varnishd") else "/usr/sbin/varnishd", "-F", "-n", self.folder + "/work",
                "-a", f"127.0.0.1:{self.port}", "-f", vcl, "-s", f"file,{self.folder}/cache,6g",
                "-p", f"thread_pools={self.threads}", "-p", "thread_pool_min=20"]


class Rclone(Server):
    label = "rclone"

    def command(self):
        return ["rclone", "serve", "http", ":http:", "--http-url", f"http://127.0.0.1:{self.origin.port}/",
                "--config", "/dev/null", "--addr", f"127.0.0.1:{self.port}", "--vfs-cache-mode", "full", "--read-only",
                "--cache-dir", self.folder + "/cache", "--dir-cache-time", "10h"]

    def environment(self):
        return dict(os.environ, GOMAXPROCS=str(self.threads))


class Reprise(Server):
    label = "Reprise"

    def command(self):
        return [machine.REPRISE, "serve", "--directory", self.folder + "/store", "--port", str(self.port),
                "--no-token", "--threads", str(self.threads)]

    def url(self, kind, name):
        return f"http://127.0.0.1:{self.port}/http/127.0.0.1:{self.origin.port}/{kind}/{name}.mp4"


class RepriseBefore(Reprise):
    """Another program of the same, mostly an earlier one: REPRISE_BEFORE."""
    label = "Reprise before"

    def command(self):
        return [machine.REPRISE_BEFORE] + super().command()[1:]


class RepriseSealed(Reprise):
    label = "Reprise sealed"

    def command(self):
        key = self.write("key", "7a" * 32)
        os.chmod(key, 0o600)
        return super().command() + ["--key-file", key]


class Origin(Server):
    """The counting origin; also what a direct download is measured against."""
    label = "direct"

    def command(self):
        return [machine.TOOL, "origin", "folder=" + self.content, f"port={self.port}"]

    def rate(self, bytes_a_second):
        machine.fetch(f"http://127.0.0.1:{self.port}/.origin/rate/{bytes_a_second}")

    def account(self):
        """What was sent since the last call."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/.origin/account") as answer:
            return json.load(answer)


STATIC, CACHES, SEALED = [NginxStatic, NginxCopying], [Reprise, NginxSlice, Varnish, Rclone], [RepriseSealed]
if machine.REPRISE_BEFORE:
    CACHES.append(RepriseBefore)
