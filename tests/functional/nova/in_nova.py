"""How tests are started that run inside Nova, in the environment that has it."""

from __future__ import annotations

import ast
import json
import os
import re
import select
import signal
import subprocess
from pathlib import Path

from tests.servers.base import find_program, log_end
from tests.servers.fixtures import missing
from tests.servers.openstack import environment

ROOT = Path(__file__).parents[3]
#: Where they are.
FOLDER = ROOT / "tests" / "in_nova" / "functional"
#: Seconds for one test, which computes for some ten; faulthandler_timeout would end all of pytest soon afterwards.
LIMIT = 540
#: More seconds that the launcher has for starting a Nova and for ending a test that has taken too long.
_LAUNCHER_LIMIT = 60
#: Exit status of a test that was skipped.
_SKIPPED = 3


def run(python: Path, *words: str) -> str:
    """Run a program in the environment; it must succeed. Return its output."""
    ended = subprocess.run(
        [str(python), "-W", "ignore", "-m", *words],
        cwd=ROOT,
        env=environment.variables(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said[-20_000:]
    return said


def all_ran(verdict: str) -> None:
    """Check the last line of a successful run of pytest, which also succeeds if tests were skipped."""
    if "skipped" in verdict:
        missing(f"Nova's environment lacks something: {verdict}")
    assert re.fullmatch(r"\d+ passed.*", verdict), verdict


class Launcher:
    """Runs tests on a Nova and a Placement that run in the process of the test, or on what another module puts there.

    Tests of one class that follow each other start from the same Nova, each in a process of its own.

    :param python: interpreter of the environment
    :param folder: for output
    :param module: what runs the tests
    """

    def __init__(self, python: Path, folder: Path, module: str = "tests.in_nova.functional.launcher") -> None:
        self._python = python
        self._folder = folder
        self._module = module
        self._process: subprocess.Popen[str] | None = None

    def run(self, name: str) -> str:
        """Run a test by unittest's name. It must succeed. Return its output."""
        output = self._folder / f"{name}.txt"
        output.unlink(missing_ok=True)
        if self._process is None:
            self._process = self._start()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"name": name, "output": str(output), "limit": LIMIT}), file=self._process.stdin, flush=True)
        answered, _, _ = select.select([self._process.stdout], [], [], LIMIT + _LAUNCHER_LIMIT)
        status = self._process.stdout.readline().strip() if answered else ""
        said = output.read_text(errors="replace") if output.exists() else ""
        if not status:
            self.kill()
            raise AssertionError(f"{said[-20_000:]}\nThe launcher does not answer: {log_end(self._log)}")
        if int(status) == _SKIPPED:
            missing(f"Nova's environment lacks something: {said}")
        assert int(status) == 0, f"exit status {status}\n{said[-20_000:]}"
        return said

    def kill(self) -> None:
        """End it, and the tests that it runs."""
        if self._process is not None:
            with self._process as process:
                os.killpg(process.pid, signal.SIGKILL)
            self._process = None

    @property
    def _log(self) -> Path:
        return self._folder / "launcher.log"

    def _start(self) -> subprocess.Popen[str]:
        # The kernel ends it if the tests are killed and cannot end it themselves.
        with_the_tests = [str(find_program("setpriv")), "--pdeathsig", "KILL"]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [*with_the_tests, str(self._python), "-W", "ignore", "-m", self._module],
                cwd=ROOT,
                env=environment.variables(PYTHONPATH=str(ROOT), TMPDIR=str(self._folder)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )


def names_in(path: Path) -> list[str]:
    """Return the tests of a module by unittest's names; the module cannot be imported here."""
    classes = {node.name: node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)}

    def methods(name: str) -> list[str]:
        bases = [base.id for base in classes[name].bases if isinstance(base, ast.Name) and base.id in classes]
        own = [node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)]
        return [method for base in bases for method in methods(base)] + own

    return [
        f"tests.in_nova.functional.{path.stem}.{name}.{method}"
        for name in classes
        if name.endswith("Test")
        for method in methods(name)
        if method.startswith("test_")
    ]
