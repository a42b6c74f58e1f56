from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import requests
from werkzeug.wrappers import Response

from lease_scheduler.rehearsal.runtime import current
from lease_scheduler.rehearsal.runtime.rest import URL, Application, session
from lease_scheduler.rehearsal.world import Programs, World, WorldOptions, opened


class _Programs:
    """Programs that note what they are asked for.

    :ivar broken: number of times that an engine cannot begin
    """

    def __init__(self) -> None:
        self.began: list[tuple[str, int]] = []
        self.broken = 0

    def prepare(self, folder: Path) -> None:
        assert folder.is_dir()
        self.began.append(("prepare", 0))

    def engine(self, folder: Path) -> None:
        self.began.append(("engine", os.getpid()))
        if self.broken:
            self.broken -= 1
            raise ValueError("in the test")

    def api(self, folder: Path) -> Application:
        def app(environ: Any, start_response: Any) -> Iterable[bytes]:
            return Response(str(os.getpid()))(environ, start_response)

        return app


def _asked(world: World) -> list[str]:
    """Return what the REST service answers to a request, or nothing if it does not."""
    answers: list[str] = []

    def main() -> None:
        try:
            answers.append(session().get(URL).text)
        except requests.ConnectionError:
            return

    world.start("client", "desk", main)
    world.run(1)
    return answers


def test_a_world_is_prepared_unless_its_database_has_content() -> None:
    programs = _Programs()
    with opened(WorldOptions(1), programs) as world:
        world.database.raw.execute("CREATE TABLE numbers (value INTEGER)")
        image = world.database.image()
    with opened(WorldOptions(1, image=image), programs) as world:
        assert world.database.raw.execute("SELECT * FROM numbers").fetchall() == []
    assert programs.began == [("prepare", 0)]


def test_a_program_that_cannot_begin_is_started_again() -> None:
    programs = _Programs()
    programs.broken = 2
    with opened(WorldOptions(1), programs) as world:
        first = world.start_engine("control-1")
        world.run(10)
        assert not first.is_alive
        assert len({pid for name, pid in programs.began if name == "engine"}) == 3
        (alive,) = [each for each in world.processes if each.is_alive and each.label.startswith("engine")]
        assert alive.host == "control-1"


def test_a_killed_program_is_not_started_again() -> None:
    programs = _Programs()
    with opened(WorldOptions(1), programs) as world:
        api = world.start_api("control-1")
        world.run(1)
        assert _asked(world) == [str(api.pid)]
        api.kill()
        world.run(10)
        assert _asked(world) == []


def test_a_world_ends_with_its_block_even_if_that_fails() -> None:
    def fail(programs: Programs) -> None:
        with opened(WorldOptions(1), programs) as world:
            world.start_engine("control-1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail(_Programs())
    assert current.running() is None
    with opened(WorldOptions(1), _Programs()):
        assert current.running() is not None
