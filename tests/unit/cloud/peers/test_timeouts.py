"""Time-outs by verb, and proxies that wait only for so long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openstack
import pytest
from openstack.connection import Connection

from lease_scheduler.cloud.peers.timeouts import Timeouts, within
from lease_scheduler.federation.members import Verb

# The SDK warns about its own parts, which have nothing to do with us.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


@pytest.fixture
def connection() -> Iterator[Connection]:
    endpoint = "http://127.0.0.1:9/v1"
    login: dict[str, Any] = {"auth_type": "admin_token", "auth": {"endpoint": endpoint, "token": "anything"}}
    with openstack.connect(
        load_yaml_config=False,
        load_envvars=False,
        reservation_endpoint_override=endpoint,
        reservation_default_microversion="1.44",
        api_timeout=100,
        **login,
    ) as found:
        yield found


def test_each_verb_has_a_timeout() -> None:
    assert set(Timeouts().by_verb) == set(Verb)
    assert min(Timeouts().by_verb.values()) > 0


def test_proxies_of_one_connection_wait_for_different_times(connection: Connection) -> None:
    short, long = within(connection, 1), within(connection, 7.5)
    assert (short.session.timeout, long.session.timeout, connection.session.timeout) == (1, 7.5, 100)
    assert short.session.auth is long.session.auth
    assert short.session.session is long.session.session


def test_a_proxy_has_the_microversion_of_its_connection_and_repeats_nothing(connection: Connection) -> None:
    proxy = within(connection, 1)
    assert (proxy.default_microversion, proxy.connect_retries, proxy.status_code_retries) == ("1.44", 0, 0)
