"""What a program has loaded is left out of collections, and what is not needed any more is freed nevertheless."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from lease_scheduler.cmd.memory import keep_what_is_loaded


class _Node:
    """An object that refers to itself, so that only a collection frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def thaw() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_what_is_loaded_is_left_out_until_it_is_asked_again() -> None:
    node = _Node()
    kept = weakref.ref(node)
    keep_what_is_loaded()
    assert gc.get_freeze_count() > 0
    del node
    gc.collect()
    assert kept() is not None
    keep_what_is_loaded()
    assert kept() is None


def test_later_garbage_is_collected() -> None:
    keep_what_is_loaded()
    lost = weakref.ref(_Node())
    gc.collect()
    assert lost() is None
