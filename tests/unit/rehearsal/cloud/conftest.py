"""Fixtures of the tests of the model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lease_scheduler.rehearsal.cloud import http
from tests.unit.rehearsal.cloud.site import Site


@pytest.fixture
def site() -> Iterator[Site]:
    """A cloud that clients of this process reach."""
    made = Site()
    with http.installed(made.cloud.adapter):
        yield made
