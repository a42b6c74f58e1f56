"""The driver ``ironic``: its options, and answers that the fake hardware of a real Ironic does not give."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from keystoneauth1.noauth import NoAuth
from keystoneauth1.session import Session

from lease_scheduler.cloud.power.base import PowerDriverOptions, PowerError
from lease_scheduler.cloud.power.ironic import IronicPower
from lease_scheduler.cmd.configuration import load
from lease_scheduler.cmd.power import power_driver
from lease_scheduler.model.errors import InvalidValueError


class Baremetal:
    """One node, which stays as it is; commands are noted."""

    def __init__(self, **node: Any) -> None:
        self.node = SimpleNamespace(
            **{"name": "host1", "power_state": "power on", "target_power_state": None, "is_maintenance": False, **node}
        )
        self.commands: list[str] = []

    def get_node(self, name: str) -> SimpleNamespace:
        assert name == "host1"
        return self.node

    def set_node_power_state(self, node: SimpleNamespace, target: str) -> None:
        assert node is self.node
        self.commands.append(target)


def _driver(baremetal: Any, monkeypatch: pytest.MonkeyPatch, **values: Any) -> IronicPower:
    defaults: dict[str, Any] = {"ironic_nodes": {}, "ironic_region_name": None, "ironic_interface": "internal"}
    options = PowerDriverOptions(defaults | values, lambda: Session(NoAuth(endpoint="http://127.0.0.1:9")))
    driver = IronicPower(options)
    monkeypatch.setattr(driver, "_ironic", SimpleNamespace(baremetal=baremetal))
    return driver


@pytest.mark.parametrize(
    ("state", "is_on"), [("power on", True), ("power off", False), (None, None), ("error", None), ("rebooting", None)]
)
def test_states(state: str | None, is_on: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _driver(Baremetal(power_state=state), monkeypatch).is_on("host1") is is_on


@pytest.mark.parametrize(
    ("target", "after_off", "after_on"),
    [
        (None, ["soft power off"], ["power on"]),
        ("power on", ["soft power off"], []),
        ("soft power off", [], ["power on"]),
        ("power off", [], ["power on"]),
    ],
)
def test_a_command_that_is_carried_out_is_not_repeated(
    target: str | None, after_off: list[str], after_on: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ironic locks the node meanwhile, and would say that it is in conflict."""
    for switch, commands in (("turn_off", after_off), ("turn_on", after_on)):
        baremetal = Baremetal(target_power_state=target)
        getattr(_driver(baremetal, monkeypatch), switch)("host1")
        assert baremetal.commands == commands


def test_an_ironic_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_away(name: str) -> None:
        raise TimeoutError(f"{name}: too slow")

    driver = _driver(SimpleNamespace(get_node=is_away), monkeypatch, ironic_nodes={"host1": "unit7"})
    with pytest.raises(PowerError, match="Ironic, node unit7 of host host1: unit7: too slow"):
        driver.is_on("host1")


def test_a_node_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidValueError, match=r"power.ironic_nodes: must map hosts to nodes; .* 'host1'"):
        _driver(Baremetal(), monkeypatch, ironic_nodes={"host1": ""})


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "power.auth_type: is needed with driver = ironic; or auth_section = nova"),
        ("auth_type = nobody", "power.auth_type: .*nobody"),
        ("auth_type = none\nironic_cafile = /nowhere", "power.ironic_cafile: there is no file /nowhere"),
    ],
)
def test_credentials_that_are_missing_are_refused_at_start(lines: str, message: str, tmp_path: Any) -> None:
    path = tmp_path / "service.conf"
    path.write_text(f"[power]\ndriver = ironic\n{lines}\n")
    with pytest.raises(InvalidValueError, match=message):
        power_driver(load(["--config-file", str(path)]))


@pytest.mark.parametrize("lines", ["auth_section = nova", "auth_type = none\nendpoint = http://127.0.0.1:9"])
def test_credentials_are_those_of_nova_or_its_own(lines: str, tmp_path: Any) -> None:
    path = tmp_path / "service.conf"
    path.write_text(
        "[nova]\nauth_type = password\nauth_url = http://127.0.0.1:9\nusername = u\npassword = p\n"
        f"[power]\ndriver = ironic\n{lines}\n"
    )
    assert isinstance(power_driver(load(["--config-file", str(path)])), IronicPower)
