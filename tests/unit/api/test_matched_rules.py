"""The rules of the API match paths, and that is all."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.routing import Rule

from lease_scheduler.api.settings import ApiSettings


def test_no_url_builders_are_compiled(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """That would take most of the time of a start."""
    monkeypatch.setattr(Rule, "_compile_builder", lambda *given: pytest.fail("a builder is compiled"))
    app = build(ApiSettings(auth="noauth"))
    (rule,) = [rule for rule in app.url_map.iter_rules() if rule.endpoint == "GET /v1/leases/<lease_id>"]
    with pytest.raises(RuntimeError, match="no URL can be built for /v1/leases/<lease_id>"):
        rule.build({"lease_id": "1"})
