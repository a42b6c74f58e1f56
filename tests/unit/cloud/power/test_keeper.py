"""The thread that has hosts sleep and wake: faults of drivers, hosts and engines (contention F60, F67)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from lease_scheduler.cloud.power.base import PowerError
from lease_scheduler.cloud.power.keeper import PowerKeeper, PowerTimes
from lease_scheduler.engine.interfaces import EventKind
from lease_scheduler.model.power import PowerState

AWAKE, FALLING, ASLEEP = PowerState.AWAKE, PowerState.FALLING_ASLEEP, PowerState.ASLEEP
WAKING, FAILED = PowerState.WAKING, PowerState.FAILED
HOST = "host1"


@dataclass
class Machine:
    """A host, its compute service and its power, which the keeper sees and commands."""

    on: bool = True
    boots: bool = True
    obeys: bool = True
    is_away: bool = False
    lies: bool | None = None
    servers: int = 0
    disabled_by: str | None = None
    beats: int = 0
    stale: bool = False
    commands: list[str] = field(default_factory=list)
    before_answer: Callable[[], None] = lambda: None
    nova_is_away: bool = False

    # the driver

    def is_on(self, host: str) -> bool | None:
        self.before_answer()
        self._answer()
        return self.on if self.lies is None else self.lies

    def turn_on(self, host: str) -> None:
        self._answer()
        self.commands.append("on")
        self.on = self.on or self.obeys

    def turn_off(self, host: str) -> None:
        self._answer()
        self.commands.append("off")
        self.on = self.on and not self.obeys

    def _answer(self) -> None:
        if self.is_away:
            raise PowerError("the controller does not answer")

    # the compute service

    def is_vacant(self, host: str) -> bool:
        return not self.servers

    def close(self, host: str) -> bool:
        self.disabled_by = self.disabled_by or "us"
        return self.disabled_by == "us"

    def open(self, host: str) -> None:
        if self.nova_is_away:
            raise ConnectionError("Nova is away")
        if self.disabled_by == "us":
            self.disabled_by = None

    def is_open(self, host: str) -> bool:
        return self.disabled_by is None

    def closed(self) -> frozenset[str]:
        return frozenset({HOST} if self.disabled_by == "us" else ())

    def heartbeat(self, host: str) -> int | None:
        if self.on and self.boots:
            self.beats += 1
            return self.beats
        return self.beats if self.stale else None


class Bench:
    """A keeper, one machine, the wish of the engine, and a clock that is moved by hand."""

    def __init__(self, wish: PowerState, **machine: object) -> None:
        self.machine = Machine(**machine)  # type: ignore[arg-type]
        self.wish: PowerState | None = wish
        self.leads = True
        self.hears = True
        self.reports: list[tuple[str, str]] = []
        self.now = 0.0
        self.keeper = self.another()

    def another(self) -> PowerKeeper:
        """Return the keeper of a process that starts anew."""
        times = PowerTimes(interval=5, sleeping_interval=60, again=30, shutdown=90, patience=600)
        wishes = lambda: {} if self.wish is None else {HOST: self.wish}  # noqa: E731
        return PowerKeeper(
            self.machine, self.machine, wishes, self._report, lambda: self.leads, times, lambda: self.now
        )

    def _report(self, host: str, kind: EventKind, reason: str) -> None:
        assert host == HOST
        self.reports.append((kind.value, reason))
        if not self.hears:
            return
        # As the engine does.
        if kind is EventKind.HOST_AWAKE:
            self.wish = AWAKE
        elif self.wish is FALLING:
            self.wish = ASLEEP

    def look(self, seconds: float = 0.0) -> Bench:
        """Look every 5 s for some time."""
        until = self.now + seconds
        while True:
            self.keeper.look()
            if self.now >= until:
                return self
            self.now += 5

    @property
    def state(self) -> tuple[bool, str | None]:
        return self.machine.on, self.machine.disabled_by


def test_a_host_is_closed_before_it_is_switched_off() -> None:
    bench = Bench(FALLING).look()
    assert bench.state == (True, "us")
    bench.look(5)
    assert bench.state == (False, "us")
    assert (bench.machine.commands, bench.reports) == (["off"], [("host-asleep", "")])


def test_a_host_is_opened_once_its_service_runs() -> None:
    bench = Bench(WAKING, on=False, boots=False, disabled_by="us").look(20)
    assert (bench.state, bench.reports) == ((True, "us"), [])
    bench.machine.boots = True
    bench.look(10)
    assert (bench.state, bench.reports) == ((True, None), [("host-awake", "")])
    assert bench.machine.commands == ["on"]


def test_a_service_that_is_only_said_to_run_does_not_count() -> None:
    """For a minute after a host was switched off, Nova still shows its service as up."""
    bench = Bench(WAKING, on=False, boots=False, stale=True, beats=7, disabled_by="us").look(60)
    assert bench.reports == []


def test_a_host_with_servers_stays_on_and_open() -> None:
    """Servers of no lease included; in the end the engine is told."""
    bench = Bench(FALLING, servers=1).look(590)
    assert (bench.state, bench.machine.commands, bench.reports) == ((True, None), [], [])
    bench.look(10)
    assert bench.reports == [("host-awake", "servers are on it")]
    assert "off" not in bench.machine.commands


def test_a_server_that_was_on_its_way_keeps_a_host_on() -> None:
    bench = Bench(FALLING).look()
    bench.machine.servers = 1
    bench.look(10)
    assert (bench.state, bench.machine.commands) == ((True, None), [])
    bench.machine.servers = 0
    bench.look(10)
    assert bench.reports == [("host-asleep", "")]


def test_a_host_that_an_operator_has_disabled_is_left_alone() -> None:
    bench = Bench(FALLING, disabled_by="operator").look(10)
    assert bench.state == (True, "operator")
    assert "off" not in bench.machine.commands
    assert bench.reports == [("host-awake", "its compute service is disabled")]
    woken = Bench(WAKING, disabled_by="operator").look(10)
    assert (woken.state, woken.reports) == ((True, "operator"), [("host-awake", "")])


def test_a_host_that_an_operator_takes_over_is_left_alone() -> None:
    """They may have their hands in it, so it is not switched on either, whatever we have done before."""
    bench = Bench(FALLING, obeys=False).look(10)
    assert bench.machine.commands == ["off"]
    bench.machine.on, bench.machine.disabled_by, bench.machine.obeys = False, "operator", True
    bench.look(700)
    assert bench.reports == [("host-awake", "its compute service is disabled")]
    assert (bench.state, bench.machine.commands) == ((False, "operator"), ["off"])


def test_an_operator_may_switch_off_a_host_that_has_just_woken() -> None:
    bench = Bench(WAKING, disabled_by="us").look(10)
    assert bench.reports == [("host-awake", "")]
    bench.machine.disabled_by, bench.machine.on = "operator", False
    bench.look(200)
    assert bench.state == (False, "operator")


def test_a_host_is_looked_at_again_only_after_the_interval() -> None:
    """Whatever else wakes the keeper: a server that was on its way needs time to be seen."""
    bench = Bench(FALLING).look()
    for _ in range(3):
        bench.look()
    assert bench.machine.commands == []
    bench.look(5)
    assert bench.machine.commands == ["off"]


def test_a_host_that_gets_a_server_while_the_driver_answers_stays_on() -> None:
    bench = Bench(FALLING).look()

    def boot() -> None:
        bench.machine.servers = 1

    bench.machine.before_answer = boot
    bench.look(10)
    assert (bench.state, bench.machine.commands) == ((True, None), [])


def test_a_host_that_was_given_up_is_left_until_the_engine_knows() -> None:
    bench = Bench(FALLING, obeys=False)
    bench.hears = False
    bench.look(700)
    assert bench.reports == [("host-awake", "it does not switch off")]
    assert bench.state == (True, None)


def test_a_host_is_opened_even_if_it_was_closed_late() -> None:
    """By a command of an engine that does not lead any more, for example."""
    bench = Bench(WAKING, disabled_by="us").look(10)
    bench.machine.disabled_by = "us"
    bench.look(65)
    assert bench.state == (True, None)


def test_a_host_is_given_up_even_if_nova_is_away_at_first(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(FALLING, obeys=False, nova_is_away=True).look(605)
    assert bench.reports == []
    assert "Nova is away" in caplog.text
    bench.machine.nova_is_away = False
    bench.look(5)
    assert bench.reports == [("host-awake", "it does not switch off")]
    assert bench.state == (True, None)


def test_a_host_that_does_not_switch_off_is_woken() -> None:
    bench = Bench(FALLING, obeys=False).look(610)
    assert bench.reports == [("host-awake", "it does not switch off")]
    assert bench.state == (True, None)
    # The command is repeated every 30 s.
    assert bench.machine.commands.count("off") == 20


def test_a_driver_that_is_away_is_asked_again() -> None:
    bench = Bench(WAKING, on=False, is_away=True, disabled_by="us").look(100)
    assert bench.reports == []
    bench.machine.is_away = False
    bench.look(10)
    assert bench.reports == [("host-awake", "")]


def test_a_driver_that_stays_away_keeps_a_host_awake() -> None:
    bench = Bench(FALLING, is_away=True).look(610)
    assert bench.reports == [("host-awake", "the controller does not answer")]
    assert bench.state == (True, None)


def test_a_host_that_never_wakes_is_told_again_and_again() -> None:
    bench = Bench(WAKING, on=False, boots=False, disabled_by="us").look(100)
    bench.wish = FAILED
    bench.look(100)
    assert bench.reports == []
    assert bench.machine.commands.count("on") > 3


def test_a_driver_that_lies_about_a_host_that_is_off_is_overruled() -> None:
    """It says that the host is on, so it is told once; but the host counts as awake only if its service runs."""
    bench = Bench(WAKING, on=False, boots=True, lies=True, disabled_by="us").look(10)
    assert bench.machine.on
    assert bench.reports == [("host-awake", "")]


def test_a_driver_that_lies_about_a_host_that_is_on_delays_nothing() -> None:
    bench = Bench(ASLEEP, lies=False, disabled_by="us").look(120)
    assert bench.reports == []
    bench.wish, bench.machine.lies = WAKING, None
    bench.look(10)
    assert bench.reports == [("host-awake", "")]


@pytest.mark.parametrize("wish", [WAKING, FAILED])
def test_a_driver_that_goes_on_lying_about_a_host_that_is_on_is_overruled(
    wish: PowerState, caplog: pytest.LogCaptureFixture
) -> None:
    """Servers could run there, so it must not count as failed. It is told to switch on twice, and no more."""
    bench = Bench(wish, lies=False, disabled_by="us").look(25)
    assert bench.reports == []
    bench.look(10)
    assert bench.reports == [("host-awake", "")]
    assert bench.state == (True, None)
    bench.look(300)
    assert bench.machine.commands == ["on", "on"]
    assert "though its driver says that it is off" in caplog.text


def test_late_signs_of_life_of_a_host_that_is_off_do_not_count() -> None:
    bench = Bench(WAKING, obeys=False, lies=False, disabled_by="us").look(10)
    bench.machine.on, bench.machine.stale = False, True
    bench.look(300)
    assert bench.reports == []


def test_a_host_that_is_switched_on_by_hand_is_noticed() -> None:
    bench = Bench(ASLEEP, on=False, disabled_by="us").look(60)
    bench.machine.on = True
    bench.look(70)
    assert (bench.state, bench.reports) == ((True, None), [("host-awake", "")])
    assert bench.machine.commands == []


@pytest.mark.parametrize("wish", [FALLING, WAKING, FAILED, ASLEEP])
def test_an_engine_that_was_deposed_gives_no_commands(wish: PowerState) -> None:
    bench = Bench(wish, on=wish in (FALLING, ASLEEP))
    bench.leads = False
    bench.look(20)
    assert (bench.machine.commands, bench.reports) == ([], [])
    assert bench.machine.disabled_by is None


def test_a_wish_that_changes_at_the_last_moment_is_followed() -> None:
    bench = Bench(FALLING).look()
    bench.wish = WAKING
    bench.look(10)
    assert bench.machine.commands == ["on"]
    assert (bench.state, bench.reports) == ((True, None), [("host-awake", "")])


def test_a_host_that_is_to_wake_while_it_goes_off_is_switched_on_afterwards() -> None:
    bench = Bench(FALLING, obeys=False).look(5)
    assert bench.machine.commands == ["off"]
    bench.wish = WAKING
    bench.look(30)
    # Its service still runs, but it would not for long.
    assert bench.reports == []
    bench.machine.obeys, bench.machine.on = True, False
    bench.look(15)
    assert (bench.state, bench.reports) == ((True, None), [("host-awake", "")])


def test_a_host_that_goes_off_right_after_it_woke_is_switched_on_again() -> None:
    """A command of another engine, or of this one before it was restarted, may take effect late."""
    bench = Bench(WAKING, disabled_by="us").look(10)
    assert bench.reports == [("host-awake", "")]
    bench.machine.on = False
    bench.look(65)
    assert bench.machine.on
    bench.look(700)
    # Somebody who switches it off later means it.
    bench.machine.on = False
    bench.look(200)
    assert not bench.machine.on


@pytest.mark.parametrize("wish", [None, AWAKE])
def test_what_an_engine_left_closed_is_opened(wish: PowerState | None) -> None:
    """It may have died between the wish to wake a host and its opening, or have been deposed."""
    bench = Bench(AWAKE, on=False, disabled_by="us")
    bench.wish = wish
    bench.look(10)
    assert bench.state == (True, None)
    assert bench.reports == [("host-awake", "")]


@pytest.mark.parametrize("looks", range(4))
def test_a_process_that_starts_anew_goes_on(looks: int) -> None:
    bench = Bench(FALLING)
    for _ in range(looks):
        bench.keeper = bench.another()
        bench.look()
    bench.look(15)
    assert (bench.state, bench.reports[0]) == ((False, "us"), ("host-asleep", ""))
    bench.wish = WAKING
    for _ in range(looks):
        bench.keeper = bench.another()
        bench.look()
    bench.look(15)
    assert (bench.state, bench.reports[-1]) == ((True, None), ("host-awake", ""))


def test_nothing_is_done_once_the_plan_is_over() -> None:
    bench = Bench(FALLING)
    keeper = PowerKeeper(bench.machine, bench.machine, lambda: None, bench._report, lambda: True)
    assert keeper.due() == []


def test_the_thread_does_the_same() -> None:
    machine = Machine()
    reports: list[str] = []
    wish = {HOST: FALLING}

    def report(host: str, kind: EventKind, reason: str) -> None:
        reports.append(kind.value)
        wish[host] = ASLEEP

    keeper = PowerKeeper(machine, machine, lambda: dict(wish), report, lambda: True, PowerTimes(interval=0.01))
    keeper.start()
    try:
        for _ in range(500):
            if reports:
                break
            keeper.wake()
            keeper._worker.wait_for_stop(0.01)
    finally:
        keeper.ask_to_stop()
        keeper.join()
    assert (reports, machine.on) == (["host-asleep"], False)
