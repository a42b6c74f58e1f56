"""The way of a request through the modules is the one that the architecture page shows."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import lease_scheduler
from tests.functional.service.site import Service
from tests.servers.base import wait_until

_PACKAGE = Path(lease_scheduler.__file__).parent
_PAGE = Path(__file__).parents[3] / "doc" / "source" / "contributor" / "architecture.rst"


def _documented() -> dict[str, list[tuple[str, ...]]]:
    """Return the chains of the page by their titles; a chain in another thread is a chain of its own."""
    lines = _PAGE.read_text().partition("The longest chains of calls")[2].partition("code-block:: none\n\n")[2]
    texts: dict[str, str] = {}
    title = ""
    for line in lines.partition("\n\n")[0].splitlines():
        title = line[3:15].strip() or title
        texts[title] = texts.get(title, "") + " " + line[15:]
    return {
        name: [tuple(module.strip() for module in chain.split(">")) for chain in text.split("|")]
        for name, text in texts.items()
    }


def _module(frame: FrameType) -> str | None:
    path = Path(frame.f_code.co_filename)
    return str(path.relative_to(_PACKAGE).with_suffix("")) if path.is_relative_to(_PACKAGE) else None


class _Chains:
    """The chains of modules that call each other, seen by a profiling function.

    :ivar seen: those that end with a call of one of the wanted functions
    """

    def __init__(self, *ends: str) -> None:
        self._ends = ends
        self.seen: set[tuple[str, ...]] = set()

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if event != "call" or frame.f_code.co_qualname not in self._ends:
            return
        modules: list[str] = []
        at: FrameType | None = frame
        while at is not None:
            found = _module(at)
            if found is not None:
                modules.append(found)
            at = at.f_back
        self.seen.add(tuple(module for module, _ in groupby(reversed(modules))))


@pytest.fixture
def chains() -> Iterator[_Chains]:
    found = _Chains("map_vms", "SqlStore.commit", "Executor.submit", "SimulatedCloud.perform")
    before = sys.getprofile(), threading.getprofile()
    # Threads that start from now on are seen, too.
    threading.setprofile(found)
    yield found
    sys.setprofile(before[0])
    threading.setprofile(before[1])


def test_the_page_shows_the_way_of_a_request(chains: _Chains, tmp_path: Path) -> None:
    service = Service(tmp_path, "free", {})
    try:
        sys.setprofile(chains)
        lease_id = service.leases.create({}, service.document(kind="best-effort"))["lease_id"]
        sys.setprofile(None)
        assert wait_until(service.is_in(lease_id, "active"), 30.0)
    finally:
        service.close()
    page = _documented()
    assert set(page) == {"take in", "find place", "write", "carry out"}
    for title in ("find place", "write", "carry out"):
        for chain in page[title]:
            assert chain in chains.seen, f"{title}: {chain} is not one of {chains.seen}"
