"""Every program, command and option that the documentation mentions exists."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

_PAGES = sorted((Path(__file__).parents[3] / "doc" / "source").rglob("*.rst"))
_BLOCK = re.compile(r"^\.\. code-block:: console\n\n((?:   .*\n|\n)+)", re.MULTILINE)
_COMMAND = re.compile(r"^ +[$#] ((?:lease-s|haizea).*)$", re.MULTILINE)
#: Options that every program with configuration files has, each with a value.
_COMMON = ("--config-file", "--config-dir")


def _printed() -> Iterator[str]:
    for page in _PAGES:
        for block in _BLOCK.findall(page.read_text()):
            yield from _COMMAND.findall(block.replace("\\\n", " "))


@cache
def _help(program: str, *commands: str) -> str:
    words = [str(Path(sys.executable).with_name(program)), *commands, "--help"]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, f"{shlex.join(words)}: {ended.stderr}"
    return ended.stdout


@pytest.mark.slow
def test_what_is_printed_is_there() -> None:
    """One test for all, because each program is started only once to list its options."""
    printed = sorted(set(_printed()))
    assert len(printed) > 15
    for command in printed:
        _check(command)


def _check(command: str) -> None:
    program, *words = (word for word in shlex.split(command) if word != "&")
    while words and words[0] in _COMMON:
        del words[:2]
    first_option = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
    told = general = _help(program)
    for number in range(first_option):
        # Further words may be arguments of a command, such as the name of a host.
        if not re.search(rf"\b{re.escape(words[number])}\b", told):
            assert number, f"{command}: {words[number]} is no command of {program}"
            break
        told = _help(program, *words[: number + 1])
    missing = [word for word in words if word.startswith("--") and word not in told and word not in general]
    assert not missing, f"{command}: there is no {', '.join(missing)}"
