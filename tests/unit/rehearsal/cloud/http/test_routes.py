from __future__ import annotations

import pytest

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes


def _routes() -> Routes:
    routes = Routes()
    routes.add("GET", "/things/{name}", lambda request, name: {"name": name})
    routes.add("DELETE", "/things/{name}", lambda request, name: None, 204)
    routes.add("PUT", "/things/{name}", lambda request, name: Answer(201))
    return routes


@pytest.mark.parametrize(
    ("method", "expected"), [("GET", Answer(200, {"name": "a"})), ("DELETE", Answer(204)), ("PUT", Answer(201))]
)
def test_handlers_get_the_parts_of_the_path(method: str, expected: Answer) -> None:
    assert _routes().answer(Request(method, "thing", "/things/a"), "/things/a") == expected


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/things/a/b", 404), ("POST", "/things/a", 405)])
def test_what_is_not_there_is_refused(method: str, path: str, status: int) -> None:
    with pytest.raises(Refusal) as refused:
        _routes().answer(Request(method, "thing", path), path)
    assert refused.value.status == status
