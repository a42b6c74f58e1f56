"""The tests that run inside a real Nova, on the model: whatever they find there, they find here.

They take some seconds, not minutes, because nothing waits for real time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.nova.in_nova import FOLDER, Launcher, names_in

_NAMES = [name for path in sorted(FOLDER.glob("test_*.py")) for name in names_in(path)]

#: Minutes of a Nova; the model does them in seconds.
_MATRIX = names_in(FOLDER / "matrix_steps.py")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    """Runs tests on the model, in one process."""
    launcher = Launcher(Path(sys.executable), tmp_path_factory.mktemp("model"), "tests.functional.rehearsal.launcher")
    yield launcher
    launcher.kill()


@pytest.mark.parametrize("name", _NAMES, ids=[name.split(".", 3)[-1] for name in _NAMES])
def test_on_the_model(model: Launcher, name: str) -> None:
    model.run(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", _MATRIX, ids=[name.split(".", 4)[-1] for name in _MATRIX])
def test_members_and_steps(model: Launcher, name: str) -> None:
    """All that members can do, times all that the driver does (``tests/functional/nova/test_matrix.py``)."""
    print(model.run(name))
