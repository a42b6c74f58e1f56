"""Calls made by the package's modules while something is done."""

from __future__ import annotations

import cProfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType

import lease_scheduler

_PACKAGE = str(Path(lease_scheduler.__file__).parent) + "/"

#: Python 3.12 and later run these where they are written, without a call.
_INLINED = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>"})

#: Modules with fewer calls than this share of all are counted with their room only.
_LEAST_SHARE = 0.01


def calls_of(work: Callable[[], object]) -> dict[str, int]:
    """Do some work and return how many calls each room and each of the busiest modules makes and receives.

    A function counts when it is called, and so does a function of another library when a module calls it: a loop that
    appends to a list shows as its appends.
    """
    profile = cProfile.Profile()
    profile.runcall(work)
    modules: Counter[str] = Counter()
    for entry in profile.getstats():
        if not isinstance(entry.code, CodeType) or not entry.code.co_filename.startswith(_PACKAGE):
            continue
        module = entry.code.co_filename.removeprefix(_PACKAGE).removesuffix(".py")
        if entry.code.co_name not in _INLINED:
            modules[module] += entry.callcount
        modules[module] += sum(called.callcount for called in entry.calls or () if not _is_ours(called.code))
    total = modules.total()
    rooms: Counter[str] = Counter()
    for module, count in modules.items():
        rooms[module.split("/")[0]] += count
    found = {f"calls, {room}": count for room, count in rooms.items()}
    return found | {f"calls, {module}": count for module, count in modules.items() if count >= _LEAST_SHARE * total}


def _is_ours(code: CodeType | str) -> bool:
    """Whether the calls of some code are counted where it is."""
    return isinstance(code, CodeType) and (code.co_filename.startswith(_PACKAGE) or code.co_name in _INLINED)
