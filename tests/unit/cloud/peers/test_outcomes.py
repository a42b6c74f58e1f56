"""What came of calls: refusals say why, and everything that is not about the request is no answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
import requests
from keystoneauth1 import exceptions as login
from openstack import exceptions

from lease_scheduler.cloud.peers.outcomes import outcome
from lease_scheduler.federation.answers import Alternative, FederationReason, Refusal, Unanswered
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.refusals import RefusalReason


def _fail(error: Exception) -> Any:
    def call() -> None:
        raise error

    return outcome("north", call)


def _http(status: int, body: object) -> Any:
    response = requests.Response()
    response.status_code = status
    response._content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return _fail(exceptions.HttpException("refused", response=response))


def _error(status: int, **more: object) -> Any:
    return _http(status, {"error_code": status, "error_message": "no", **more})


def test_a_call_that_succeeds_has_its_result() -> None:
    assert outcome("north", lambda: 7) == 7


@pytest.mark.parametrize(
    ("status", "more", "reason"),
    [
        (409, {"reason_code": "capacity"}, RefusalReason.CAPACITY),
        (403, {"reason_code": "limit"}, RefusalReason.LIMIT),
        (409, {"reason_code": "of-a-later-version"}, FederationReason.OTHER),
        (409, {}, FederationReason.OTHER),
        (404, {"field": "lease_id"}, FederationReason.UNKNOWN),
        (400, {"field": "expires_at"}, FederationReason.EXPIRED),
        (400, {"field": "start_date"}, RefusalReason.PAST),
        (400, {"field": "min_yield"}, FederationReason.UNSUPPORTED),
        (403, {}, RefusalReason.POLICY),
    ],
)
def test_a_refusal_has_a_reason(status: int, more: dict[str, object], reason: object) -> None:
    assert _error(status, **more) == Refusal("north", reason, "no")  # type: ignore[arg-type]


def test_a_route_that_the_site_does_not_have_is_not_an_unknown_lease() -> None:
    found = _http(404, {"error": 404, "error_message": "not found"})
    assert found.reason is FederationReason.UNSUPPORTED


def test_alternatives_without_a_place_are_left_out() -> None:
    shown = [
        {"start": "2027-01-15T08:00:00Z", "end": "2027-01-15T09:00:00Z", "count": 2},
        {"start": "2027-01-15T08:00:00Z", "end": None, "count": 2},
    ]
    found = _error(409, reason_code="capacity", alternatives=shown)
    assert found.alternatives == (Alternative("north", 1_800_000_000, 1_800_003_600, 2),)


@pytest.mark.parametrize("status", [401, 406, 408, 413, 429, 500, 502, 503, 504, 302])
def test_what_is_not_about_the_request_is_no_answer(status: int) -> None:
    assert _error(status) == Unanswered()


@pytest.mark.parametrize("body", ["<html>404</html>", "", "[]", '{"message": "of another program"}'])
@pytest.mark.parametrize("status", [400, 404, 409])
def test_what_another_program_answers_is_no_answer(status: int, body: str) -> None:
    assert _http(status, body) == Unanswered()


@pytest.mark.parametrize(
    "error",
    [
        exceptions.SDKException("no endpoint"),
        exceptions.HttpException("without a response"),
        login.ConnectFailure("refused"),
        login.ConnectTimeout("too late"),
        login.Unauthorized("expired"),
        KeyError("a key is missing"),
        ValueError("no date"),
        InvalidValueError("bid", "ends before it starts"),
    ],
)
def test_silence_and_answers_that_cannot_be_read_are_no_answer(error: Exception) -> None:
    assert _fail(error) == Unanswered()


def test_errors_of_this_program_are_not_hidden() -> None:
    with pytest.raises(AttributeError):
        _fail(AttributeError("a mistake"))
