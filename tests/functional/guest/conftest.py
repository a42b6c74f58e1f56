"""A site, a Slurm cluster and a guest that end with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.functional.embedded.rest import Rest
from tests.functional.guest.world import NodeHooks, World
from tests.servers.reservation import ReservationService
from tests.servers.slurm import Slurm

MakeWorld = Callable[..., World]

#: Hosts of the site; each has a node of the guest.
_HOSTS = 3


@pytest.fixture
def make_world(tmp_path: Path, slurm: Slurm) -> Iterator[MakeWorld]:
    """Makes a world whose guest runs, given further options of the guest."""
    with ExitStack() as stack:

        def one(*lines: str) -> World:
            service = ReservationService(tmp_path, configuration=f"[simulated_cloud]\nhosts = {_HOSTS}\n")
            stack.callback(service.kill)
            service.start()
            Rest(service).register(_HOSTS)
            hooks = NodeHooks(slurm)
            hooks.start()
            stack.callback(hooks.stop)
            world = World(tmp_path, service, slurm, hooks, lines)
            world.configure()
            world.start_guest()
            stack.callback(lambda: world.guest.kill() if world.guest else None)
            return world

        yield one
