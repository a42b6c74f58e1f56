"""The health check answers at once and says what hangs."""

from __future__ import annotations

import time
from threading import Event, active_count
from typing import Any

import pytest
from werkzeug.test import Client

from lease_scheduler.api.health import Health, HealthPage


def _enabled(environ: Any, start_response: Any) -> list[bytes]:
    start_response("200 OK", [])
    return [b"OK"]


def _disabled(environ: Any, start_response: Any) -> list[bytes]:
    start_response("503 Service Unavailable", [])
    return [b"DISABLED BY FILE"]


def test_parts_that_work_are_ok() -> None:
    answer = Client(HealthPage(Health({"engine": lambda: None, "database": lambda: None}), _enabled)).get("/")
    assert (answer.status_code, answer.get_json()) == (
        200,
        {"status": "ok", "parts": {"engine": {"state": "ok"}, "database": {"state": "ok"}}},
    )
    assert Client(HealthPage(Health({}), _enabled)).head("/").data == b""


def test_a_part_that_hangs_delays_no_answer() -> None:
    """Many clients ask, but only one thread checks the part that hangs; when it recovers, all is well again."""
    release = Event()

    def hang() -> None:
        release.wait(60)

    def fail() -> str:
        raise ConnectionError("secret address")

    health = Health({"engine": hang, "database": lambda: "the disk is full", "broker": fail}, patience=0.2)
    client = Client(HealthPage(health, _enabled))
    threads = active_count()
    for _ in range(5):
        begun = time.monotonic()
        answer = client.get("/")
        assert time.monotonic() - begun < 5
        parts = answer.get_json()["parts"]
        assert (answer.status_code, answer.get_json()["status"]) == (200, "degraded")
        assert parts["engine"]["state"] == "hangs"
        assert parts["database"] == {"state": "fails", "reason": "the disk is full"}
        assert parts["broker"] == {"state": "fails", "reason": "does not answer (ConnectionError)"}
        assert "secret" not in answer.text
    assert parts["engine"]["seconds"] >= 0.5
    assert active_count() <= threads + 1
    release.set()
    end = time.monotonic() + 30
    while client.get("/").get_json()["parts"]["engine"] != {"state": "ok"}:
        assert time.monotonic() < end


def test_a_process_out_of_service_answers_503() -> None:
    answer = Client(HealthPage(Health({"engine": lambda: pytest.fail("not asked")}), _disabled)).get("/")
    assert (answer.status_code, answer.data) == (503, b"DISABLED BY FILE")
