"""The DevStack plug-in: what it calls in each phase, and the resulting configuration."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from keystoneauth1 import loading
from keystoneauth1.identity.base import BaseIdentityPlugin
from oslo_config import cfg
from sqlalchemy import create_engine

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.agents import agent_secret
from lease_scheduler.cmd.wiring import check_engine
from lease_scheduler.nova import options
from lease_scheduler.nova.rules import Rules
from lease_scheduler.store.sql import migrate
from tests.servers.openstack import nova
from tests.unit.devstack.node import COMPUTE, CONTROLLER, Node, PluginError, make_node

_REPOSITORY = Path(__file__).parents[3]
_WSGI = "lease_scheduler.cmd.wsgi:application"
_SHIPPED_ANCHOR = _REPOSITORY / "etc" / "nova" / "provider_config" / "lease-anchor.yaml"

#: Groups of our configuration whose options are defined by libraries.
_OF_LIBRARIES = {"DEFAULT", "database", "keystone_authtoken"}


def _sections(path: Path) -> dict[str, dict[str, list[str]]]:
    """Return all values of all options by section; each section occurs once."""
    found: dict[str, dict[str, list[str]]] = {}
    section = ""
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
            assert section not in found
            found[section] = {}
        elif line.strip():
            name, value = line.split("=", 1)
            found[section].setdefault(name.strip(), []).append(value.strip())
    return found


def _limit(definition: str) -> tuple[str, ...]:
    """Return the policy with which RabbitMQ limits the length of the notification queues."""
    pattern = "^((versioned|lease)_)?notifications[.]"
    name = "lease-scheduler-notifications"
    return ("sudo", "rabbitmqctl", "set_policy", "--apply-to", "queues", name, pattern, definition)


# What is called
# --------------


def test_a_controller_is_stacked(controller: Node) -> None:
    """Each phase does its part, in the required order: the whole contract at a glance."""
    calls = controller.stack()
    programs, conf = str(controller.programs), str(controller.conf)
    uwsgi_conf, anchor = str(controller.uwsgi_conf), str(controller.anchor)
    api = f"{controller.uwsgi} --procname-prefix lease-scheduler-api --ini {uwsgi_conf}"
    user = controller.variables["STACK_USER"]
    assert calls["pre-install"] == [("echo_summary", "Checking the settings of lease-scheduler")]
    assert calls["install"] == [
        ("echo_summary", "Installing lease-scheduler"),
        ("setup_develop", str(_REPOSITORY)),
    ]
    assert calls["post-config"] == [
        ("echo_summary", "Configuring lease-scheduler"),
        ("sudo", "install", "-d", "-o", user, "-m", "750", str(controller.conf.parent), str(controller.state)),
        ("sudo", "rm", "-f", str(controller.site)),
        ("write_uwsgi_config", uwsgi_conf, _WSGI, "/reservation", "", "lease-scheduler-api"),
        ("async_wait", "configure_neutron_nova"),
        ("sudo", "install", "-D", "-m", "644", str(_SHIPPED_ANCHOR), anchor),
        _limit('{"max-length": 1000}'),
    ]
    assert calls["extra"] == [
        ("echo_summary", "Initializing lease-scheduler"),
        ("create_service_user", "lease-scheduler", "admin"),
        ("get_or_create_service", "lease-scheduler", "reservation", "OpenStack Reservation Service"),
        ("get_or_create_endpoint", "reservation", "RegionOne", "http://192.0.2.10/reservation/v1"),
        ("recreate_database", "lease_scheduler"),
        ("manage", "--config-file", conf, "db", "sync"),
        ("echo_summary", "Starting lease-scheduler"),
        ("run_process", "lease-scheduler-engine", f"{programs}/lease-scheduler-engine --config-file {conf}"),
        ("run_process", "lease-scheduler-api", api),
        ("wait_for_service", "60", "http://192.0.2.10/reservation/healthcheck"),
    ]
    assert calls["test-config"] == [("echo_summary", "Configuring Tempest for lease-scheduler")]
    assert _sections(controller.tempest_conf) == {"service_available": {"blazar": ["True"]}}


def test_a_compute_node_is_stacked(compute: Node) -> None:
    """It needs one file and some lines of nova.conf from us: no package, no process, nothing in Keystone."""
    calls = compute.stack()
    assert calls["install"] == [("echo_summary", "Installing lease-scheduler")]
    assert calls["post-config"] == [
        ("echo_summary", "Configuring lease-scheduler"),
        ("async_wait", "configure_neutron_nova"),
        ("sudo", "install", "-D", "-m", "644", str(_SHIPPED_ANCHOR), str(compute.anchor)),
    ]
    assert (calls["extra"], calls["test-config"]) == ([], [])
    assert not compute.conf.exists()
    found = _sections(compute.nova_conf)
    assert found["compute"] == {"provider_config_location": [str(compute.anchor.parent)]}
    assert found["filter_scheduler"] == {"enabled_filters": ["ComputeFilter,SameHostFilter"]}
    assert "lease_scheduler" not in found


def test_a_node_with_a_scheduler_alone_gets_the_package(tmp_path: Path) -> None:
    node = make_node(tmp_path, ("n-sch",))
    calls = node.stack()
    assert ("setup_develop", str(_REPOSITORY)) in calls["install"]
    assert calls["extra"] == []
    assert "lease_scheduler" in _sections(node.nova_conf)
    assert not node.anchor.exists()


def test_a_second_engine_leaves_database_and_catalogue_alone(tmp_path: Path) -> None:
    node = make_node(tmp_path, ("lease-scheduler-engine",), NOVA_CONF="")
    calls = node.stack()
    engine = f"{node.programs}/lease-scheduler-engine --config-file {node.conf}"
    assert calls["extra"] == [
        ("echo_summary", "Starting lease-scheduler"),
        ("run_process", "lease-scheduler-engine", engine),
    ]
    assert node.conf.exists()
    assert not node.uwsgi_conf.exists()


def test_a_node_without_any_of_it_is_left_alone(tmp_path: Path) -> None:
    node = make_node(tmp_path, ("s-proxy", "rabbit"), NOVA_CONF="", SERVICE_PASSWORD="")
    assert {*map(tuple, node.stack().values())} == {()}
    assert node.run("unstack") == []
    assert node.run("clean") == []


def test_tempest_is_configured_where_it_is(tmp_path: Path) -> None:
    node = make_node(tmp_path, tuple(name for name in CONTROLLER if name != "tempest"), TEMPEST_CONFIG="")
    assert node.run("stack", "test-config") == []


def test_the_processes_are_stopped(controller: Node) -> None:
    controller.stack()
    assert controller.run("unstack") == [
        ("echo_summary", "Shutting down lease-scheduler"),
        ("stop_process", "lease-scheduler-api"),
        ("stop_process", "lease-scheduler-engine"),
        ("sudo", "rabbitmqctl", "clear_policy", "lease-scheduler-notifications"),
    ]
    assert controller.conf.exists()


def test_a_broker_that_is_stopped_already_stops_nothing(tmp_path: Path) -> None:
    calls = make_node(tmp_path, RABBIT_STATUS="69").run("unstack")
    assert ("stop_process", "lease-scheduler-engine") in calls


def test_everything_is_cleaned_up(controller: Node) -> None:
    controller.stack()
    own = [controller.conf, controller.state, controller.anchor, controller.site]
    assert all(path.exists() for path in own)
    calls = controller.run("clean")
    assert ("remove_uwsgi_config", str(controller.uwsgi_conf), "lease-scheduler-api") in calls
    assert not any(path.exists() for path in (*own, controller.uwsgi_conf, controller.conf.parent))
    assert controller.nova_conf.exists()


def test_a_compute_node_is_cleaned_up(compute: Node) -> None:
    """Also if nova.conf is already gone."""
    compute.stack()
    compute.nova_conf.unlink()
    assert compute.run("unstack") == []
    compute.run("clean")
    assert not compute.anchor.exists()
    compute.run("clean")


def test_the_site_does_not_grow(controller: Node) -> None:
    """Also if older versions of the plug-in have left their lines."""
    controller.site.parent.mkdir()
    controller.site.write_text("ProxyPass of another time\n")
    for _ in range(2):
        controller.run("stack", "post-config")
        assert controller.site.read_text() == 'ProxyPass "/reservation"\n'


def test_queues_of_notifications_as_long_as_there_is_room(tmp_path: Path) -> None:
    calls = make_node(tmp_path, LEASE_SCHEDULER_NOTIFICATION_LIMIT="70").run("stack", "post-config")
    assert _limit('{"max-length": 70}') in calls


def test_only_the_node_with_the_broker_limits_its_queues(compute: Node) -> None:
    assert not any("rabbitmqctl" in call for call in compute.run("stack", "post-config"))


# What cannot be done
# -------------------


@pytest.mark.parametrize("services", [CONTROLLER, ("n-sch",)])
@pytest.mark.parametrize("phase", ["pre-install", "post-config"])
def test_a_library_that_is_held_too_low_ends_the_run(tmp_path: Path, services: tuple[str, ...], phase: str) -> None:
    """Before anything is installed; the error names the file in which the version can be changed."""
    node = make_node(tmp_path, services)
    node.constraints.write_text("alembic===1.99\nOslo_Messaging===18.2.0\n")
    said = rf"\[ERROR\] .*oslo\.messaging 18\.3\.0 or later.*{node.constraints} holds it at 18\.2\.0"
    with pytest.raises(PluginError, match=said):
        node.run("stack", phase)


@pytest.mark.parametrize(
    "constraints",
    [
        "oslo.messaging===18.3.0\n",
        "oslo.messaging===18.10.0\n",
        # If there are several versions for several Pythons, pip takes the one that fits.
        "oslo.messaging===18.2.0;python_version=='3.11'\noslo.messaging===18.4.0;python_version>='3.12'\n",
        "# oslo.messaging===18.2.0\n-e file:///opt/stack/oslo.messaging#egg=oslo.messaging\n",
        "",
    ],
)
def test_libraries_that_are_new_enough(tmp_path: Path, constraints: str) -> None:
    node = make_node(tmp_path)
    node.constraints.write_text(constraints)
    node.run("stack", "pre-install")


def test_a_library_from_its_repository_is_not_held(tmp_path: Path) -> None:
    node = make_node(tmp_path, LIBS_FROM_GIT="oslo.config,oslo.messaging")
    node.constraints.write_text("oslo.messaging===18.2.0\n")
    node.run("stack", "pre-install")


def test_a_node_with_nova_compute_alone_needs_no_library(compute: Node) -> None:
    compute.constraints.write_text("oslo.messaging===18.2.0\n")
    compute.run("stack", "pre-install")


def test_a_machine_without_uwsgi(controller: Node) -> None:
    controller.uwsgi.unlink()
    with pytest.raises(PluginError, match=r"\[ERROR\] lease-scheduler-api needs uWSGI"):
        controller.run("stack", "extra")


@pytest.mark.parametrize("phase", ["pre-install", "post-config"])
@pytest.mark.parametrize(
    "name",
    [
        "STACK_USER",
        "DATA_DIR",
        "SERVICE_PASSWORD",
        "SERVICE_PROJECT_NAME",
        "SERVICE_DOMAIN_NAME",
        "KEYSTONE_SERVICE_URI",
        "REGION_NAME",
        "NOVA_CONF",
        "PLACEMENT_CONF",
    ],
)
def test_a_missing_variable_ends_the_run(tmp_path: Path, name: str, phase: str) -> None:
    node = make_node(tmp_path, CONTROLLER, **{name: ""})
    with pytest.raises(PluginError, match=rf"\[ERROR\] .*\b{name}\b.*not set"):
        node.run("stack", phase)
    assert not node.conf.exists()


def test_a_missing_address_is_called_by_our_name(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"\[ERROR\] .*LEASE_SCHEDULER_SERVICE_HOST.*not set"):
        make_node(tmp_path, SERVICE_HOST="").run("stack", "pre-install")


def test_a_compute_node_needs_no_credentials(tmp_path: Path) -> None:
    make_node(tmp_path, COMPUTE, SERVICE_PASSWORD="", KEYSTONE_SERVICE_URI="", REGION_NAME="").stack()


def test_a_folder_that_is_not_ours(tmp_path: Path) -> None:
    node = make_node(tmp_path, LEASE_SCHEDULER_DIR="/opt/stack/nothing")
    with pytest.raises(PluginError, match=r"\[ERROR\] LEASE_SCHEDULER_DIR=/opt/stack/nothing is not the repository"):
        node.run("stack", "pre-install")


def test_a_nova_that_is_not_configured(controller: Node) -> None:
    controller.nova_conf.unlink()
    with pytest.raises(PluginError, match=rf"\[ERROR\] .*there is no {controller.nova_conf}"):
        controller.run("stack", "post-config")


def test_an_api_that_does_not_start(tmp_path: Path) -> None:
    node = make_node(tmp_path, WAIT_STATUS="1")
    with pytest.raises(PluginError, match=r"\[ERROR\] lease-scheduler-api did not start"):
        node.run("stack", "extra")


def test_tables_that_cannot_be_made(controller: Node) -> None:
    (controller.programs / "lease-scheduler-manage").write_text("#!/bin/bash\nexit 2\n")
    with pytest.raises(PluginError):
        controller.run("stack", "extra")
    assert "run_process" not in [name for name, *_ in controller.calls()]


# Our configuration
# -----------------


def test_our_programs_take_the_configuration(controller: Node) -> None:
    controller.stack()
    conf = configuration.load(["--config-file", str(controller.conf)])
    check_engine(conf)
    assert (conf.service.cloud, conf.service.state_path) == ("nova", str(controller.state))
    assert conf.service.coordination_url == f"file://{controller.state}/coordination"
    assert conf.database.connection == f"sqlite:///{controller.folder}/lease_scheduler"
    assert conf.nova.aggregate_freepool_name == "freepool"
    assert (conf.nova.interface, conf.nova.region_name, conf.nova.cafile) == ("public", "RegionOne", None)
    login = loading.load_auth_from_conf_options(conf, "nova")
    assert isinstance(login, BaseIdentityPlugin)
    assert login.auth_url == "http://192.0.2.10/identity"
    raw = _sections(controller.conf)
    assert raw["keystone_authtoken"]["service_type"] == ["reservation"]
    assert raw["keystone_authtoken"]["username"] == raw["nova"]["username"] == ["lease-scheduler"]
    assert raw["DEFAULT"]["transport_url"] == ["rabbit://stackrabbit:secret@192.0.2.10:5672/"]


def test_every_option_of_ours_exists(tmp_path: Path) -> None:
    """oslo.config ignores misspelt options."""
    node = make_node(
        tmp_path,
        (*CONTROLLER, "tls-proxy"),
        SSL_BUNDLE_FILE="/opt/stack/data/ca-bundle.pem",
        LEASE_SCHEDULER_COORDINATION_URL="mysql://root:secret@127.0.0.1/lease_scheduler",
    )
    node.stack()
    known: set[tuple[str, str]] = set()
    section = ""
    for line in (_REPOSITORY / "etc" / "lease-scheduler.conf.sample").read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif named := re.match(r"#(\w+) =", line):
            known.add((section, named[1]))
    written = {(group, name) for group, values in _sections(node.conf).items() for name in values}
    assert ("nova", "cafile") in written
    assert ("service", "coordination_url") in written
    assert {each for each in written if each[0] not in _OF_LIBRARIES} - known == set()


def test_the_api_finds_the_configuration(controller: Node) -> None:
    controller.stack()
    found = _sections(controller.uwsgi_conf)["uwsgi"]
    assert found["module"] == [_WSGI]
    assert found["env"] == [f"LEASE_SCHEDULER_CONFIG={controller.conf}"]


def test_the_files_with_passwords_are_not_for_everybody(controller: Node) -> None:
    controller.stack()
    assert controller.conf.parent.stat().st_mode & 0o007 == 0


def test_nothing_of_an_earlier_run_is_left(controller: Node) -> None:
    controller.stack()
    with controller.conf.open("a") as file:
        file.write("[scheduling]\ndeadline_placement = greedy\n")
    controller.run("stack", "post-config")
    assert "scheduling" not in _sections(controller.conf)


def test_the_tables_are_made(tmp_path: Path) -> None:
    """With the real program."""
    node = make_node(tmp_path, PROGRAMS=str(Path(sys.executable).parent))
    node.stack()
    assert migrate.current(create_engine(f"sqlite:///{tmp_path}/lease_scheduler")) == migrate.newest()


# Nova's configuration
# --------------------


def test_nova_scheduler_gets_filter_and_weigher(controller: Node) -> None:
    """Under names under which a real Nova loads them."""
    controller.stack()
    found = _sections(controller.nova_conf)["filter_scheduler"]
    assert found == {
        "enabled_filters": ["ComputeFilter,SameHostFilter,LeaseFilter"],
        "available_filters": ["nova.scheduler.filters.all_filters", nova.FILTER],
        "weight_classes": [f"nova.scheduler.weights.all_weighers,{nova.WEIGHER}"],
    }


def test_placement_tries_a_claim_once(controller: Node) -> None:
    """Its own retries may exceed what there is. What somebody has chosen stays."""
    controller.stack()
    found = _sections(controller.placement_conf)
    assert found == {"api": {"auth_strategy": ["keystone"]}, "placement": {"allocation_conflict_retry_count": ["1"]}}
    controller.placement_conf.write_text("[placement]\nallocation_conflict_retry_count = 2\n")
    controller.run("stack", "post-config")
    assert _sections(controller.placement_conf) == {"placement": {"allocation_conflict_retry_count": ["2"]}}


def test_a_second_run_changes_nothing(controller: Node) -> None:
    controller.run("stack", "post-config")
    once = _sections(controller.nova_conf)
    controller.run("stack", "post-config")
    assert _sections(controller.nova_conf) == once


def test_what_other_plugins_have_put_there_stays(controller: Node) -> None:
    controller.nova_conf.write_text(
        "[filter_scheduler]\nenabled_filters = ComputeFilter, BlazarFilter\n"
        "available_filters = nova.scheduler.filters.all_filters\navailable_filters = theirs.Filter\n"
        "weight_classes = theirs.Weigher\n"
        "[notifications]\nnotification_format = versioned\nnotify_on_state_change = vm_state\n"
        "[oslo_messaging_notifications]\ndriver = messagingv2\ndriver = log\n"
    )
    controller.stack()
    found = _sections(controller.nova_conf)
    assert found["filter_scheduler"] == {
        "enabled_filters": ["ComputeFilter,BlazarFilter,LeaseFilter"],
        "available_filters": ["nova.scheduler.filters.all_filters", "theirs.Filter", nova.FILTER],
        "weight_classes": [f"theirs.Weigher,{nova.WEIGHER}"],
    }
    assert found["notifications"]["notification_format"] == ["versioned"]
    assert found["oslo_messaging_notifications"] == {"driver": ["messagingv2", "log"]}


def test_a_nova_conf_without_filters_keeps_those_of_nova(controller: Node) -> None:
    controller.nova_conf.write_text("")
    controller.stack()
    (found,) = _sections(controller.nova_conf)["filter_scheduler"]["enabled_filters"]
    assert found.split(",") == [
        "ComputeFilter",
        "ComputeCapabilitiesFilter",
        "ImagePropertiesFilter",
        "ServerGroupAntiAffinityFilter",
        "ServerGroupAffinityFilter",
        "LeaseFilter",
    ]


@pytest.mark.parametrize(
    ("variables", "rules", "freepool"),
    [
        ({}, Rules(allow_preemptibles=True, on_demand_horizon=None), "freepool"),
        (
            {
                "LEASE_SCHEDULER_ALLOW_PREEMPTIBLES": "False",
                "LEASE_SCHEDULER_ON_DEMAND_HORIZON": "7200",
                "LEASE_SCHEDULER_FREEPOOL_NAME": "pool",
            },
            Rules(allow_preemptibles=False, on_demand_horizon=7200),
            "pool",
        ),
    ],
)
def test_the_filter_reads_its_options(tmp_path: Path, variables: dict[str, str], rules: Rules, freepool: str) -> None:
    """The engine and the filter use the same name for the pool."""
    node = make_node(tmp_path, CONTROLLER, **variables)
    node.stack()
    known = {option.dest for option in options.OPTIONS}
    assert set(_sections(node.nova_conf)[options.GROUP]) <= known
    conf = cfg.ConfigOpts()
    conf(["--config-file", str(node.nova_conf)])
    group = options.register(conf)
    assert (options.rules(group), group.freepool) == (rules, freepool)
    assert configuration.load(["--config-file", str(node.conf)]).nova.aggregate_freepool_name == freepool


@pytest.mark.parametrize("services", [CONTROLLER, COMPUTE, ("n-api",)])
@pytest.mark.parametrize("before", ["", "[notifications]\nnotification_format = unversioned\n"])
def test_every_node_of_nova_sends_versioned_notifications(
    tmp_path: Path, services: tuple[str, ...], before: str
) -> None:
    node = make_node(tmp_path, services)
    node.nova_conf.write_text(before + "[oslo_messaging_notifications]\ndriver = noop\n")
    node.stack()
    found = _sections(node.nova_conf)
    assert found["notifications"] == {
        "notification_format": ["both"],
        "notify_on_state_change": ["vm_and_task_state"],
    }
    assert found["oslo_messaging_notifications"] == {"driver": ["messagingv2"]}


def test_the_conductors_of_the_cells_send_to_where_all_of_nova_does(controller: Node) -> None:
    """They report new hosts, and their own broker is a different virtual host."""
    controller.nova_conf.write_text(
        "[DEFAULT]\ntransport_url = rabbit://own/\n[oslo_messaging_notifications]\ntransport_url = rabbit://told/\n"
    )
    controller.cell_conf(1).write_text("[DEFAULT]\ntransport_url = rabbit://own/nova_cell1\n")
    controller.cell_conf(2).write_text("[oslo_messaging_notifications]\ndriver = log\ntransport_url = rabbit://mine/\n")
    for _ in range(2):
        controller.run("stack", "post-config")
        first, second = (_sections(controller.cell_conf(number)) for number in (1, 2))
        for found in (first, second):
            assert found["notifications"] == {
                "notification_format": ["both"],
                "notify_on_state_change": ["vm_and_task_state"],
            }
        assert first["oslo_messaging_notifications"] == {
            "driver": ["messagingv2"],
            "transport_url": ["rabbit://told/"],
        }
        assert second["oslo_messaging_notifications"] == {"driver": ["log"], "transport_url": ["rabbit://mine/"]}
        assert first["DEFAULT"] == {"transport_url": ["rabbit://own/nova_cell1"]}


def test_a_cell_of_a_nova_that_sends_where_it_calls(controller: Node) -> None:
    controller.nova_conf.write_text("[DEFAULT]\ntransport_url = rabbit://own/\n")
    controller.cell_conf(1).write_text("[DEFAULT]\ntransport_url = rabbit://own/nova_cell1\n")
    controller.run("stack", "post-config")
    found = _sections(controller.cell_conf(1))["oslo_messaging_notifications"]
    assert found["transport_url"] == ["rabbit://own/"]


@pytest.mark.parametrize("services", [CONTROLLER, COMPUTE])
def test_nova_compute_gets_the_anchor(tmp_path: Path, services: tuple[str, ...]) -> None:
    node = make_node(tmp_path, services)
    node.stack()
    location = _sections(node.nova_conf)["compute"]["provider_config_location"]
    assert location == [str(node.anchor.parent)]
    assert node.anchor.read_text() == _SHIPPED_ANCHOR.read_text()


def test_a_folder_that_nova_compute_has_already(compute: Node) -> None:
    theirs = compute.folder / "theirs"
    compute.nova_conf.write_text(f"[compute]\nprovider_config_location = {theirs}\n")
    compute.stack()
    assert _sections(compute.nova_conf)["compute"] == {"provider_config_location": [str(theirs)]}
    assert (theirs / "lease-anchor.yaml").read_text() == _SHIPPED_ANCHOR.read_text()
    assert not compute.anchor.exists()
    compute.run("clean")
    assert not (theirs / "lease-anchor.yaml").exists()


# How the shell is left
# ---------------------


@pytest.mark.parametrize("option", ["set -o xtrace", "set +o xtrace"])
def test_tracing_is_as_it_was(controller: Node, option: str) -> None:
    ended = controller.bash(
        f'set -o errexit; source "$FUNCTIONS"; source "$PLUGIN/settings"; {option}\n'
        'source "$PLUGIN/plugin.sh" stack install\nset +o | grep xtrace'
    )
    assert ended.stdout.splitlines()[-1] == option


# The agent
# ---------

_SECRET = "a secret for all nodes"


def test_a_compute_node_gets_the_agent_when_asked(tmp_path: Path) -> None:
    services = (*COMPUTE, "lease-scheduler-agent")
    node = make_node(tmp_path, services, LEASE_SCHEDULER_AGENT_SECRET=_SECRET, LIBVIRT_GROUP="libvirtd")
    calls = node.stack()
    agent = node.conf.with_name("lease-scheduler-agent.conf")
    assert ("setup_develop", str(_REPOSITORY), "agent") in calls["install"]
    command = f"{node.programs}/lease-scheduler-agent --config-file {agent}"
    assert calls["extra"] == [("run_process", "lease-scheduler-agent", command, "libvirtd")]
    assert not node.conf.exists(), "a compute host needs no password of the database"
    assert agent.parent.stat().st_mode & 0o007 == 0
    conf = configuration.load(["--config-file", str(agent)])
    assert agent_secret(conf) == _SECRET
    assert _sections(agent)["DEFAULT"]["transport_url"] == ["rabbit://stackrabbit:secret@192.0.2.10:5672/"]
    assert ("stop_process", "lease-scheduler-agent") in node.run("unstack")
    node.run("clean")
    assert not agent.exists()


def test_engine_and_agent_of_a_node_share_the_secret(tmp_path: Path) -> None:
    node = make_node(tmp_path, (*CONTROLLER, "lease-scheduler-agent"), LEASE_SCHEDULER_AGENT_SECRET=_SECRET)
    node.stack()
    check_engine(conf := configuration.load(["--config-file", str(node.conf)]))
    assert agent_secret(conf) == _SECRET


def test_an_agent_without_a_secret_ends_the_run(tmp_path: Path) -> None:
    node = make_node(tmp_path, (*COMPUTE, "lease-scheduler-agent"))
    with pytest.raises(PluginError, match="LEASE_SCHEDULER_AGENT_SECRET"):
        node.run("stack", "pre-install")
