"""The filter of extensions as users of REST meet it."""

from __future__ import annotations

from typing import Any

import requests

from .conftest import Client, Start

_CONFIGURATION = """[enforcement]
enabled_filters = ExtensionFilter
extension_max_count = 1
extension_max_time = 3600
extension_exempt_roles =
"""


def _extended(client: Client, lease_id: str, by: str, path: str = "action") -> requests.Response:
    return client.ask("POST", f"leases/{lease_id}/{path}", json={"extend": {"by": by}})


def test_an_extension_and_its_quote_are_refused_in_the_same_words_with_a_shorter_one(start: Start) -> None:
    client = start(_CONFIGURATION)
    lease: dict[str, Any] = client.create().json()["lease"]
    refused = [_extended(client, lease["id"], "2h", path) for path in ("quote", "action")]
    assert [answer.status_code for answer in refused] == [403, 403]
    first, second = (answer.json() for answer in refused)
    assert first["error_message"] == second["error_message"]
    assert "may add 1 h at most ([enforcement] extension_max_time), not 2 h" in first["error_message"]
    assert first["field"] == "duration"
    (alternative,) = second["alternatives"]
    assert alternative["change"] == "duration"
    taken = client.ask("PUT", f"leases/{lease['id']}", json={"end_date": alternative["end"]})
    assert taken.status_code == 200, taken.text
    shorter = client.ask("POST", f"leases/{lease['id']}/action", json={"shrink": {"by": "1h"}})
    assert shorter.status_code == 200, shorter.text
    again = _extended(client, lease["id"], "10m")
    assert again.status_code == 403
    assert "extension_max_count" in again.json()["error_message"]
    # Extensions are about time only.
    renamed = client.ask("PUT", f"leases/{lease['id']}", json={"name": "renamed"})
    assert renamed.status_code == 200
    assert _extended(client, lease["id"], "10m", "quote").status_code == 403
