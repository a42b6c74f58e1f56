from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from keystoneauth1.exceptions.http import HttpError
from novaclient.exceptions import ClientException

from lease_scheduler.rehearsal.cloud import http
from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorCall, HypervisorError, Proceed
from tests.unit.rehearsal.cloud.site import HOSTS, LONG, Site

_ROOT = Path(__file__).parents[4]

#: What members and operators may do at any time; Nova may refuse it.
_COMMANDS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda nova, each: each.stop(),
    lambda nova, each: each.start(),
    lambda nova, each: each.suspend(),
    lambda nova, each: each.resume(),
    lambda nova, each: each.shelve(),
    lambda nova, each: each.unshelve(),
    lambda nova, each: each.rescue(),
    lambda nova, each: each.unrescue(),
    lambda nova, each: each.reboot("HARD"),
    lambda nova, each: each.resize("large"),
    lambda nova, each: each.resize("small"),
    lambda nova, each: each.confirm_resize(),
    lambda nova, each: each.revert_resize(),
    lambda nova, each: each.live_migrate(None, "auto"),
    lambda nova, each: each.migrate(),
    lambda nova, each: each.evacuate(),
    lambda nova, each: each.rebuild(each.image["id"]),
    lambda nova, each: each.create_image("mine"),
    lambda nova, each: each.lock(),
    lambda nova, each: nova.servers.reset_state(each, "active"),
    lambda nova, each: each.delete(),
)


def _live(site: Site, random: Random, steps: int) -> None:
    """Have members, operators and hosts do things at random instants."""
    site.cloud.add_flavor("large", 3000, 2, 1, id="large")

    def hypervisor(call: HypervisorCall, proceed: Proceed) -> None:
        luck = random.random()
        if luck < 0.05:
            proceed(HypervisorError("it cannot"))
        elif luck < 0.1:
            site.cloud.timing.call_later(LONG, lambda: proceed(None))
        else:
            proceed(None)

    site.cloud.computes.hypervisor = hypervisor
    nova = site.nova()
    for _ in range(steps):
        choice = random.random()
        servers = nova.servers.list()
        if choice < 0.2 or not servers:
            nova.servers.create("job", site.image, random.choice(("small", "large")), nics="none")
        elif choice < 0.25:
            site.cloud.computes.stop(random.choice(HOSTS))
        elif choice < 0.3:
            site.cloud.computes.start(random.choice(HOSTS))
        else:
            try:
                random.choice(_COMMANDS)(nova, nova.servers.get(random.choice(servers).id))
            except ClientException as error:
                assert error.code in (400, 404, 409)
        site.clock.run(random.choice((0.1, 3.0, 30.0, 200.0)))


def _history(seed: int) -> str:
    site = Site(seed=seed)
    with http.installed(site.cloud.adapter):
        _live(site, Random(seed), 60)
    return json.dumps([site.heard, site.clock.now, sorted(site.cloud.nova.servers)])


def test_one_seed_gives_one_history() -> None:
    first = _history(1)
    assert _history(1) == first
    assert _history(2) != first
    assert len(json.loads(first)[0]) > 30


def test_the_history_does_not_depend_on_the_order_of_sets() -> None:
    """Python orders sets of texts in another way in each process, unless it is told not to."""
    code = f"from {__name__} import _history; print(_history(1))"
    histories = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            cwd=_ROOT,
            env={**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(histories) == 1


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**32))
def test_whatever_is_done_no_host_is_oversold_and_deleted_servers_leave_nothing(seed: int) -> None:
    site = Site(seed=seed)
    with http.installed(site.cloud.adapter):
        _live(site, Random(seed), 40)
        placement = site.cloud.placement
        for provider in placement.providers.values():
            used = placement.usages(provider.id)
            assert all(used.get(name, 0) <= each.capacity for name, each in provider.inventories.items())
        # Once all hosts are well, everything can be deleted.
        site.cloud.computes.hypervisor = lambda call, proceed: proceed(None)
        for host in HOSTS:
            site.cloud.computes.start(host)
        site.clock.run(3 * LONG)
        nova = site.nova()
        for server in nova.servers.list(search_opts={"all_tenants": 1}):
            nova.servers.reset_state(server, "active")
            server.delete()
        site.clock.run(3 * LONG)
        assert {each.state for each in site.cloud.nova.servers.values()} <= {states.DELETED}
        assert not placement.consumers.keys() & site.cloud.nova.servers.keys()


def test_every_service_is_found_in_the_catalogue_and_refuses_strangers() -> None:
    site = Site()
    with http.installed(site.cloud.adapter):
        session = site.session()
        for kind, path in (
            ("compute", "/servers"),
            ("placement", "/resource_providers"),
            ("image", "/v2/images"),
            ("network", "/v2.0/networks"),
        ):
            endpoint = session.get_endpoint(service_type=kind, interface="public", region_name="RegionOne")
            assert session.get(f"{endpoint}{path}").status_code == 200
            try:
                session.get(f"{endpoint}{path}", authenticated=False)
            except HttpError as error:
                assert error.http_status == 401
            else:
                raise AssertionError(kind)
