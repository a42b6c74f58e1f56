from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable
from threading import Lock
from types import ModuleType
from typing import Any

import pytest

from lease_scheduler.rehearsal.runtime import current
from lease_scheduler.rehearsal.runtime.locks import GreenLock
from lease_scheduler.rehearsal.runtime.patching import entered, patched
from lease_scheduler.rehearsal.runtime.processes import EPOCH, Process
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from lease_scheduler.service.core.clock import RealTime
from lease_scheduler.service.telling.subscriptions import book

_LATER = "lease_scheduler_test_module_that_comes_later"
_GUARD: object = Lock()


def _in_world(main: Callable[[], object]) -> None:
    scheduler = Scheduler(1)
    with entered(scheduler):
        Process(scheduler, "process", "host").start(main)
        scheduler.run(10)
    assert scheduler.crashes == []


def test_defaults_of_parameters_are_replaced() -> None:
    seen: list[float] = []
    with patched():
        _in_world(lambda: seen.extend([RealTime().wall(), RealTime().steady(), book.SubscriptionBook()._wall()]))
    assert seen == [EPOCH, 0.0, EPOCH]


def test_locks_of_modules_are_those_of_the_world() -> None:
    with patched() as patches:
        assert isinstance(_GUARD, GreenLock)
        assert _GUARD in patches.shared_locks
    assert not isinstance(_GUARD, GreenLock)


def _callables() -> dict[str, Any]:
    return {
        f"{name}.{attribute}": value
        for name, module in sorted(sys.modules.items())
        if isinstance(module, ModuleType)
        for attribute, value in vars(module).items()
        if callable(value)
    }


def test_everything_is_put_back() -> None:
    before, defaults = _callables(), RealTime.__init__.__defaults__
    with patched():
        assert time.time is not before["time.time"]
        assert RealTime.__init__.__defaults__ != defaults
    after = _callables()
    assert [name for name in before if after.get(name) is not before[name]] == []
    assert RealTime.__init__.__defaults__ is defaults
    assert threading.Thread.start.__module__ == "threading"


def test_nothing_is_replaced_twice() -> None:
    with patched(), pytest.raises(RuntimeError, match="replaced already"), patched():
        pass


def test_modules_that_are_loaded_in_a_world_are_put_right_after_it() -> None:
    later = ModuleType(_LATER)
    with patched():
        exec("from time import time", vars(later))
        sys.modules[_LATER] = later
    try:
        assert later.time is time.time
    finally:
        del sys.modules[_LATER]


def test_garbage_is_not_collected_at_instants_that_no_seed_decides() -> None:
    assert gc.isenabled()
    with patched(), entered(Scheduler(1)):
        assert not gc.isenabled()
    assert gc.isenabled()
    assert current.running() is None
