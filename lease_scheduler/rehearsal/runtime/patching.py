"""Replacement of clocks, locks, threads and chance in all loaded modules while worlds run."""

from __future__ import annotations

import _thread
import gc
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from types import FunctionType, ModuleType
from typing import Any

from lease_scheduler.rehearsal.runtime import current, threads
from lease_scheduler.rehearsal.runtime.locks import GreenLock, GreenRLock
from lease_scheduler.rehearsal.runtime.pools import POOLS
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from lease_scheduler.rehearsal.runtime.substitutes import EVERYWHERE, IN_SERVICE

#: Modules that keep the real things: those that run tests, and those from which worlds are made.
_REAL = ("_pytest", "pytest", "pluggy", "execnet", "xdist", "importlib", "_frozen_importlib", "_thread", "greenlet")
_REAL_OF_OURS = "lease_scheduler.rehearsal.runtime"

#: Packages whose functions may have a clock as the default of a parameter.
_WITH_DEFAULTS = ("lease_scheduler", "oslo_", "tooz", "tenacity", "futurist")

#: The package in which ``datetime`` is replaced.
_SERVICE = "lease_scheduler"

_LOCK_TYPES: dict[type, type[GreenLock] | type[GreenRLock]] = {
    type(_thread.allocate_lock()): GreenLock,
    type(_thread.RLock()): GreenRLock,
}

#: An attribute that was replaced: the object, the name, and what was there.
_Change = tuple[Any, str, Any]


def _is_in(name: str, packages: tuple[str, ...]) -> bool:
    return name.startswith(packages)


class Patches:
    """Replacements in the loaded modules.

    :ivar shared_locks: locks of modules, which all simulated processes share. They replace the real ones
    """

    def __init__(self) -> None:
        self.shared_locks: list[GreenLock | GreenRLock] = []
        self._changes: list[_Change] = []
        # By identity, since not all of them can be hashed; the tables keep them alive.
        self._everywhere = {id(original): substitute for original, substitute in EVERYWHERE}
        self._in_service = self._everywhere | {id(original): substitute for original, substitute in IN_SERVICE}

    def install(self) -> None:
        """Replace. Modules that are loaded later take the substitutes from where they import them."""
        threads.install()
        for name, module in list(sys.modules.items()):
            if isinstance(module, ModuleType) and not _is_real(name):
                table = self._in_service if name.startswith(_SERVICE) else self._everywhere
                self._replace_in_module(name, module, table)
        self._change(threading, "_counter", count(1).__next__)
        for owner, attribute, value in POOLS:
            self._change(owner, attribute, value)

    def restore(self) -> None:
        """Put everything back, also in modules that were loaded meanwhile."""
        for owner, name, original in reversed(self._changes):
            setattr(owner, name, original)
        originals = {id(substitute): original for original, substitute in (*EVERYWHERE, *IN_SERVICE)}
        for name, module in list(sys.modules.items()):
            if isinstance(module, ModuleType) and not _is_real(name):
                for attribute, value in list(vars(module).items()):
                    if id(value) in originals:
                        setattr(module, attribute, originals[id(value)])
        self._changes = []
        threads.restore()

    def _change(self, owner: Any, name: str, value: Any) -> None:
        self._changes.append((owner, name, vars(owner)[name] if name in vars(owner) else getattr(owner, name)))
        setattr(owner, name, value)

    def _replace_in_module(self, name: str, module: ModuleType, table: dict[int, Any]) -> None:
        is_deep = _is_in(name, _WITH_DEFAULTS)
        for attribute, value in list(vars(module).items()):
            if id(value) in table:
                self._change(module, attribute, table[id(value)])
            elif type(value) in _LOCK_TYPES:
                self._replace_lock(module, attribute, value)
            elif is_deep and isinstance(value, FunctionType):
                self._replace_defaults(value, table)
            elif is_deep and isinstance(value, type) and value.__module__ == name:
                self._replace_in_class(value, table)

    def _replace_in_class(self, found: type, table: dict[int, Any]) -> None:
        for attribute, value in list(vars(found).items()):
            if id(value) in table:
                # The original is no method, and must not become one.
                self._change(found, attribute, staticmethod(table[id(value)]))
            elif type(value) in _LOCK_TYPES:
                self._replace_lock(found, attribute, value)
            elif isinstance(value, FunctionType):
                self._replace_defaults(value, table)

    def _replace_defaults(self, function: FunctionType, table: dict[int, Any]) -> None:
        positional, named = function.__defaults__, function.__kwdefaults__
        if positional and any(id(value) in table for value in positional):
            self._change(function, "__defaults__", tuple(table.get(id(value), value) for value in positional))
        if named and any(id(value) in table for value in named.values()):
            self._change(
                function, "__kwdefaults__", {name: table.get(id(value), value) for name, value in named.items()}
            )

    def _replace_lock(self, owner: Any, attribute: str, value: Any) -> None:
        """Replace a lock that exists already. If a thread waited for it, the whole Python process would."""
        substitute = _LOCK_TYPES[type(value)]()
        self.shared_locks.append(substitute)
        self._change(owner, attribute, substitute)


def _is_real(name: str) -> bool:
    return name.split(".", 1)[0] in _REAL or name.startswith(_REAL_OF_OURS)


@contextmanager
def patched() -> Iterator[Patches]:
    """Replace what worlds replace within the block. Any number of worlds may run in it, one after the other.

    :raises RuntimeError: the block is within another one
    """
    if threads.are_simulated():
        raise RuntimeError("clocks and threads are replaced already; pass on the patches that exist")
    patches = Patches()
    patches.install()
    try:
        yield patches
    finally:
        patches.restore()


@contextmanager
def entered(scheduler: Scheduler) -> Iterator[None]:
    """Make a world the running one within the block.

    The cyclic garbage collector does not run by itself meanwhile, since it would run finalizers at instants that no
    seed decides, and the functions of ``random`` draw from the seed of the world.
    """
    state = random.getstate()
    was_enabled = gc.isenabled()
    gc.disable()
    random.seed(scheduler.identifiers.getrandbits(64))
    current.enter(scheduler)
    try:
        yield
    finally:
        current.leave()
        random.setstate(state)
        if was_enabled:
            gc.enable()
