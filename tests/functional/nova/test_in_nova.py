"""The tests that run inside Nova, started in the environment that has it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.functional.nova.in_nova import FOLDER, Launcher, all_ran, names_in, run
from tests.servers.fixtures import REQUIRE_SERVERS


def test_skipped_tests_do_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = "12 passed, 1 skipped in 0.5s"
    monkeypatch.setenv(REQUIRE_SERVERS, "1")
    with pytest.raises(pytest.fail.Exception, match="skipped"):
        all_ran(verdict)
    monkeypatch.delenv(REQUIRE_SERVERS)
    with pytest.raises(pytest.skip.Exception, match="skipped"):
        all_ran(verdict)
    all_ran("12 passed in 0.5s")


@pytest.mark.parametrize(
    ("name", "outcome", "said"),
    [
        ("test_it_succeeds", None, ""),
        ("test_it_fails", AssertionError, "it is not as it should be"),
        ("test_it_is_skipped", pytest.skip.Exception, "there is nothing to try"),
        ("test_it_is_killed", AssertionError, "exit status -9"),
    ],
)
def test_the_outcome_of_a_test_is_that_of_its_process(
    launcher: Launcher,
    name: str,
    outcome: type[BaseException] | None,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(REQUIRE_SERVERS, raising=False)
    run = partial(launcher.run, f"tests.in_nova.functional.outcomes.OutcomesTest.{name}")
    if outcome is None:
        run()
    else:
        with pytest.raises(outcome, match=said):
            run()


def test_filter_and_weigher(python: Path) -> None:
    """On the objects of nova-scheduler."""
    folder = "tests/in_nova"
    options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--import-mode=importlib"]
    places = ["--rootdir", folder, "--confcutdir", folder, "--ignore", f"{folder}/functional", folder]
    all_ran(run(python, "pytest", *options, *places).splitlines()[-1])


_NAMES = [name for path in sorted(FOLDER.glob("test_*.py")) for name in names_in(path)]


@pytest.mark.parametrize("name", _NAMES, ids=[name.split(".", 3)[-1] for name in _NAMES])
def test_on_nova(launcher: Launcher, name: str) -> None:
    """On a Nova and a Placement that run in the process of the test."""
    launcher.run(name)
