"""All that members can do to servers, times all that the driver does with servers, on a Nova in the tests' process.

Each case takes a minute or more of processor time, so it runs only if asked::

    .venv/bin/pytest -s -m slow tests/functional/nova/test_matrix.py

It prints what came of each action. ``test_members.py`` in ``tests/in_nova/functional`` tries out a small part of it
with every change, and checks the size of the whole.
"""

from __future__ import annotations

import pytest

from tests.functional.nova.in_nova import FOLDER, Launcher, names_in

pytestmark = pytest.mark.slow

_CASES = names_in(FOLDER / "matrix_steps.py")


@pytest.mark.parametrize("name", _CASES, ids=[name.split(".", 4)[-1] for name in _CASES])
def test_members_and_steps(launcher: Launcher, name: str) -> None:
    print(launcher.run(name))
