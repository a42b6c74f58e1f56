"""How tests are started that run inside Nova, in the environment that has it."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.servers.fixtures import missing
from tests.servers.openstack import environment

ROOT = Path(__file__).parents[3]
#: Where they are.
FOLDER = ROOT / "tests" / "in_nova" / "functional"
#: Seconds; faulthandler_timeout would end all of pytest some time later.
_LIMIT = 400


def run(python: Path, *words: str, limit: float = _LIMIT) -> str:
    """Run a program in the environment; it must succeed. Return its output.

    :param limit: seconds for which it may run
    """
    ended = subprocess.run(
        [str(python), "-W", "ignore", "-m", *words],
        cwd=ROOT,
        env=environment.variables(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said[-20_000:]
    return said


def all_ran(verdict: str) -> None:
    """Check the last line of a successful run: unittest also succeeds if tests were skipped."""
    if "skipped" in verdict:
        missing(f"Nova's environment lacks something: {verdict}")
    assert verdict == "OK" or re.fullmatch(r"\d+ passed.*", verdict), verdict


def run_tests(python: Path, names: Sequence[str], limit: float = _LIMIT) -> str:
    """Run tests on a Nova and a Placement that run in one process. All must succeed. Return the output."""
    said = run(python, "unittest", *names, limit=limit)
    assert f"Ran {len(names)} test" in said
    (verdict,) = [line for line in said.splitlines() if line == "OK" or line.startswith("OK (")]
    all_ran(verdict)
    return said


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
