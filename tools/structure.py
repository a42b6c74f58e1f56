"""Checks the size of modules and constructors; ``[tool.structure]`` in pyproject.toml has limits and exceptions.

Run it as ``python -m tools.structure`` from the top of a checkout. It prints what is too large, and which exceptions
are not needed, one per line, and ends with status 1 if there are any.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Limits:
    """What is allowed.

    :ivar lines: maximum number of lines of a module
    :ivar parameters: maximum number of parameters of a constructor, without ``self``
    :ivar exceptions: what may be larger: paths of modules, or ``path:class``
    """

    lines: int
    parameters: int
    exceptions: frozenset[str] = field(default_factory=frozenset)


def read_limits(project: Path) -> Limits:
    """Read the limits from a pyproject.toml."""
    found = tomllib.loads(project.read_text())["tool"]["structure"]
    return Limits(found["lines"], found["parameters"], frozenset(found.get("exceptions", ())))


def problems(root: Path, package: str, limits: Limits) -> Iterator[str]:
    """Yield what breaks the limits in a package, and the exceptions that nothing needs.

    :param root: the folder that paths are relative to
    :param package: path of the package below it
    """
    needed = set()
    for path in sorted((root / package).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        for place, problem in _of_module(name, path.read_text(), limits):
            if place in limits.exceptions:
                needed.add(place)
            else:
                yield problem
    for place in sorted(limits.exceptions - needed):
        yield f"pyproject.toml: the exception {place} is not needed"


def _of_module(name: str, text: str, limits: Limits) -> Iterator[tuple[str, str]]:
    lines = len(text.splitlines())
    if lines > limits.lines:
        yield name, f"{name}: {lines} lines, more than {limits.lines}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            count = _parameters(node)
            if count > limits.parameters:
                yield (
                    f"{name}:{node.name}",
                    f"{name}:{node.lineno}: the constructor of {node.name} has {count} parameters, more than "
                    f"{limits.parameters}",
                )


def _parameters(node: ast.ClassDef) -> int:
    """Return the number of parameters of the constructor that a class defines, 0 if it defines none."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            return len(each.args.posonlyargs) + len(each.args.args) + len(each.args.kwonlyargs) - 1
    return 0


def main() -> int:
    """Check the package ``lease_scheduler`` of the present folder."""
    found = list(problems(Path(), "lease_scheduler", read_limits(Path("pyproject.toml"))))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
