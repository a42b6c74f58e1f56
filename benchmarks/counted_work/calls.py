"""Calls that the package's modules make during a piece of work."""

from __future__ import annotations

import cProfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType

import lease_scheduler

_PACKAGE = str(Path(lease_scheduler.__file__).parent) + "/"

#: From Python 3.12 on, these run inline in the code that contains them, without a call.
_INLINED = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>"})

#: Modules with a smaller share of all calls than this are counted only as part of their room.
_LEAST_SHARE = 0.01


def calls_of(work: Callable[[], object]) -> dict[str, int]:
    """Do some work and return how many calls each room and each of the busiest modules makes and receives.

    A call counts if its function belongs to the package. A call from one of its modules into another library counts
    too, so a loop that appends to a list shows up by its appends.
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
    """Return whether calls made by this code are counted as the work of its own module."""
    return isinstance(code, CodeType) and (code.co_filename.startswith(_PACKAGE) or code.co_name in _INLINED)
