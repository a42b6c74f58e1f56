from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.functional.frontend.haizea import Haizea, run

Make = Callable[..., Haizea]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes simulations that are not started yet; they end with the test, whatever its outcome."""
    with ExitStack() as stack:

        def one(**options: object) -> Haizea:
            haizea = Haizea(tmp_path, **options)  # type: ignore[arg-type]
            stack.callback(haizea.kill)
            stack.callback(lambda: run("haizea", "--stop", "--pid-file", str(haizea.pid_file), folder=tmp_path))
            return haizea

        yield one
