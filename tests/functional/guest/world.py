"""A site, a Slurm cluster, and a guest between them; its webhook boots and ends the nodes."""

from __future__ import annotations

import hmac
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from lease_scheduler.guest.handlers import SIGNATURE, signature
from tests.functional.embedded.rest import LIMIT, Document, Rest, until
from tests.servers.base import OwnProcess, log_end
from tests.servers.reservation import ReservationService
from tests.servers.slurm import NODES, Slurm

SECRET = "not-a-secret"

_CLOUDS = """\
clouds:
  site:
    auth_type: admin_token
    auth:
      endpoint: {url}/v1
      token: anything
    reservation_endpoint_override: {url}/v1
"""

_GUEST = """\
[guest]
cloud = site
database = {folder}/guest.sqlite
interval = 1
nodes = 3
resources = VCPU:8
handler_url = {hook}
handler_secret = {secret}
handler_time = 30
refusal_pause = 2
force_after = 15
lookahead = 25
drain_margin = 12
requeue_margin = 6
{lines}
"""


class NodeHooks:
    """The receiver of the guest's requests: boots and ends nodes. Its one thread is the parent of the nodes."""

    def __init__(self, slurm: Slurm) -> None:
        self.received: list[tuple[str, str]] = []
        self.refused = 0
        hooks = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if not hmac.compare_digest(self.headers[SIGNATURE], signature(SECRET.encode(), body)):
                    hooks.refused += 1
                    self.send_error(403)
                    return
                asked = json.loads(body)
                hooks.received.append((asked["verb"], asked["node"]))
                (slurm.start_node if asked["verb"] == "join" else slurm.kill_node)(asked["node"])
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b'{"address": "127.0.0.1"}')

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/nodes"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1})

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@dataclass
class World:
    """What a test of the guest has.

    :ivar folder: of the guest
    :ivar lines: further options of the guest
    :ivar variables: further environment variables of the guest
    """

    folder: Path
    service: ReservationService
    slurm: Slurm
    hooks: NodeHooks
    lines: Sequence[str] = ()
    guest: OwnProcess | None = field(default=None, init=False)
    variables: dict[str, str] = field(default_factory=dict, init=False)

    @property
    def rest(self) -> Rest:
        """The site as an administrator sees it."""
        return Rest(self.service)

    @property
    def log(self) -> Path:
        """The output of the guest."""
        return self.folder / "guest.log"

    def configure(self) -> None:
        """Write the configuration of the guest, and have Slurm call its hooks."""
        (self.folder / "clouds.yaml").write_text(_CLOUDS.format(url=self.service.url))
        lines = "\n".join(self.lines)
        path = self.folder / "guest.conf"
        path.write_text(_GUEST.format(folder=self.folder, hook=self.hooks.url, secret=SECRET, lines=lines))
        for verb in ("resume", "suspend", "resume-failed"):
            self.slurm.write_hook(verb, [*program("guest_hooks", verb.replace("-", "_")), "--config-file", str(path)])

    def start_guest(self) -> None:
        """Start the guest."""
        variables = self.slurm.variables | {"OS_CLIENT_CONFIG_FILE": str(self.folder / "clouds.yaml")} | self.variables
        words = [*program("guest", "main"), "--config-file", str(self.folder / "guest.conf")]
        self.guest = OwnProcess("guest", words, self.log, variables)

    def wait(self, find: Callable[[], Any], limit: float = LIMIT) -> None:
        """Wait until a function finds something; the guest must not end meanwhile."""

        def found() -> bool:
            assert self.guest is None or self.guest.is_running(), log_end(self.log)
            return bool(find())

        until(found, limit)

    def kill_guest(self) -> None:
        """Kill the guest alone; nodes go on."""
        assert self.guest is not None
        os.kill(self.guest.pid, signal.SIGKILL)
        self.guest.kill()
        self.guest = None

    def live_leases(self) -> list[Document]:
        """Return the guest's leases that are not over."""
        found: list[Document] = self.rest.get("leases?live=true&name=guest")["leases"]
        return found

    def left(self) -> list[str]:
        """Return what there is of jobs, leases and nodes; nothing when all work is done and all nodes are back."""
        found = [f"job {job} is {state}" for job, state in self.slurm.jobs().items()]
        found += [f"lease {lease['id']} is {lease['state']}" for lease in self.live_leases()]
        found += [f"node {name} runs" for name in sorted(self.slurm.running_nodes())]
        usable, states = self.slurm.usable_nodes(), self.slurm.states()
        return found + [f"node {name} is {states[name]}" for name in NODES if name not in usable]

    def wait_for_end(self, limit: float) -> None:
        """Wait until all work is done and all nodes are back."""
        left: list[str] = ["not looked yet"]
        end = time.monotonic() + limit
        while left:
            assert time.monotonic() < end, f"{left}\n{log_end(self.log)}"
            time.sleep(0.2)
            left = self.left()


def program(module: str, function: str) -> list[str]:
    """Return the words that start a program."""
    return [sys.executable, "-c", f"from lease_scheduler.cmd.{module} import {function}; {function}()"]
