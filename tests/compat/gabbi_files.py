"""The declarative tests of blazar-tempest-plugin: fetched when needed, and served where they expect the services."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from gabbi import fixture

from tests.compat.shell import TOKEN

REQUIREMENT = "blazar-tempest-plugin==0.19.0"
_FETCH_LIMIT_SECONDS = 180
_OURS = "/reservation/v1"
_HYPERVISORS = "/compute/v2.1/os-hypervisors"
#: Headers that apply to one connection only.
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"}


class FetchError(Exception):
    """The package index did not deliver the package."""


class AuthenticationFixture(fixture.GabbiFixture):  # type: ignore[misc]
    """Stands in for the plugin's fixture of the same name, which logs in to Keystone."""

    def start_fixture(self) -> None:
        os.environ["OS_TOKEN"] = TOKEN

    def stop_fixture(self) -> None:
        os.environ.pop("OS_TOKEN", None)


def fetch(cache: Path) -> Path:
    """Return the folder with the unpacked package; fetch it from the package index unless it exists.

    :raises FetchError: it cannot be fetched
    """
    folder = cache / REQUIREMENT
    if folder.exists():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as temporary:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary", ":all:", "--dest", temporary, REQUIREMENT]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_LIMIT_SECONDS, check=False)
        if ended.returncode:
            raise FetchError(f"{REQUIREMENT} cannot be fetched: {ended.stderr.strip()}")
        (wheel,) = Path(temporary).glob("*.whl")
        unpacked = Path(temporary) / "unpacked"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(unpacked)
        # Another worker may do the same at the same time; the result is identical.
        try:
            unpacked.rename(folder)
        except OSError:
            shutil.rmtree(unpacked)
    return folder


@contextmanager
def tempest_paths(service_url: str, hosts: Sequence[str]) -> Iterator[str]:
    """Run a server that has the service under ``/reservation/v1``, beside a compute service that only lists its hosts.

    :param hosts: names of the hypervisors
    """
    target = urlsplit(service_url)
    listed = [
        {"id": number, "hypervisor_hostname": name, "state": "up", "status": "enabled"}
        for number, name in enumerate(hosts, 1)
    ]

    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path.startswith(_OURS):
                connection = HTTPConnection(target.netloc, timeout=60)
                headers = {key: value for key, value in self.headers.items() if key.lower() != "connection"}
                connection.request(self.command, f"{target.path}/v1{self.path[len(_OURS) :]}", content, headers)
                answer = connection.getresponse()
                self._send(answer.status, answer.getheaders(), answer.read())
                connection.close()
            elif self.path == _HYPERVISORS and self.command == "GET":
                body = json.dumps({"hypervisors": listed}).encode()
                self._send(200, [("Content-Type", "application/json")], body)
            else:
                self._send(404, [], b"")

        do_DELETE = do_GET = do_PATCH = do_POST = do_PUT = _handle

        def _send(self, status: int, headers: Sequence[tuple[str, str]], content: bytes) -> None:
            self.send_response(status)
            for key, value in headers:
                if key.lower() not in _HOP_BY_HOP:
                    self.send_header(key, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
