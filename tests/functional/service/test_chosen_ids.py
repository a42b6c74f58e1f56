"""Of concurrent requests with the same id one creates the lease; the others' server groups are removed (issue 17)."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.model.errors import RefusedError
from tests.functional.service.site import Service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path, "free", {})
    yield made
    made.close()


def test_one_lease_and_its_server_group_are_left(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    removed: list[str] = []
    together = threading.Barrier(2, timeout=20)

    def make_groups(lease: Mapping[str, Any]) -> Mapping[str, str]:
        # Both have found that there is no such lease.
        together.wait()
        made.append(f"group-{len(made)}")
        return {each["id"]: made[-1] for each in lease["reservations"]}

    def remove_groups(groups: Iterable[str]) -> None:
        removed.extend(groups)

    monkeypatch.setattr(service.cloud.server_groups, "make", make_groups)
    monkeypatch.setattr(service.cloud.server_groups, "remove", remove_groups)
    document = service.document(request_digest="a")
    (reservation,) = document["reservations"]
    document["reservations"] = [{**reservation, "affinity": False}]
    with ThreadPoolExecutor(2) as pool:
        answers = [each.result() for each in [pool.submit(service.leases.create, {}, document) for _ in range(2)]]
    assert answers == [{"lease_id": document["id"]}] * 2
    (kept,) = (each["terms"]["server_group_id"] for each in service.view(document["id"])["reservations"])
    assert sorted([kept, *removed]) == sorted(made)
    assert len(made) == 2

    with pytest.raises(RefusedError) as refused:
        service.leases.create({}, {**document, "request_digest": "b"})
    assert (refused.value.code, refused.value.field) == (409, "id")
    assert len(made) == 2
