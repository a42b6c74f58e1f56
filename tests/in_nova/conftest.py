"""Fixtures of tests that run inside Nova."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import nova.conf
import pytest
from oslo_config import fixture

from lease_scheduler.nova import options

Configuration = Callable[..., None]


@pytest.fixture
def configuration() -> Iterator[Configuration]:
    """Sets options of our group for one test."""
    config = fixture.Config(nova.conf.CONF)
    config.setUp()
    options.register(nova.conf.CONF)

    def change(**values: Any) -> None:
        config.config(group=options.GROUP, **values)

    yield change
    config.cleanUp()
