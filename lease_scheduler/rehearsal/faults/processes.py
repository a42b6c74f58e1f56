"""Processes that are killed, clocks that jump, and engines that do not reach the coordination service."""

from __future__ import annotations

from lease_scheduler.rehearsal.faults.setting import Setting
from lease_scheduler.rehearsal.runtime.processes import HostClock, Process
from lease_scheduler.rehearsal.runtime.scheduler import GreenThread
from lease_scheduler.rehearsal.swarm import pace, stream

#: Seconds between two kills at most, and until a supervisor starts the program again: means of exponential
#: distributions.
_BETWEEN_KILLS, _UNTIL_RESTART = 2_400.0, 15.0

#: Largest number of switches of the victim that pass before it is killed.
_SWITCHES = 2_000

#: Seconds between two jumps of a clock at most: mean of an exponential distribution; and by how many seconds it jumps
#: at most.
_BETWEEN_JUMPS, _JUMP = 5_000.0, 90.0


class KilledProcesses:
    """Kills an engine or a REST service at a switch of one of its threads. A supervisor starts it again."""

    name = "kill"

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._random = stream(setting.seed, "kill")
        self._victim: Process | None = None
        self._left = 0
        self._wait()

    def _wait(self) -> None:
        seconds = self._random.expovariate(1.0 / (_BETWEEN_KILLS * pace(self._setting.seed)))
        self._setting.world.scheduler.call_later(seconds, self._choose)

    def _choose(self) -> None:
        world = self._setting.world
        if world.scheduler.now >= self._setting.calm:
            return
        victims = [each for each in world.processes if each.is_alive and each.label.startswith(("engine", "api"))]
        if victims:
            self._victim, self._left = self._random.choice(victims), self._random.randint(1, _SWITCHES)
            world.scheduler.on_switch = self._strike
        self._wait()

    def _strike(self, thread: GreenThread) -> None:
        victim, world = self._victim, self._setting.world
        if victim is None or thread.process is not victim:
            return
        self._left -= 1
        if self._left <= 0 and world.scheduler.now < self._setting.calm:
            self._victim, world.scheduler.on_switch = None, None
            victim.kill()
            self._setting.story.tell(victim.label, "is killed")
            start = world.start_engine if victim.label.startswith("engine") else world.start_api
            seconds = self._random.expovariate(1.0 / _UNTIL_RESTART)
            self._setting.disturbances.add(self.name, world.scheduler.now + seconds)
            world.scheduler.call_later(seconds, lambda: start(victim.host, victim.clock))


class JumpingClocks:
    """Sets the wall clocks of hosts wrong, and right again. They also drift, by a little."""

    name = "clocks"

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._random = stream(setting.seed, "clocks")
        self._wait()

    def _wait(self) -> None:
        seconds = self._random.expovariate(1.0 / (_BETWEEN_JUMPS * pace(self._setting.seed)))
        self._setting.world.scheduler.call_later(seconds, self._jump)

    def _jump(self) -> None:
        scheduler = self._setting.world.scheduler
        if scheduler.now >= self._setting.calm:
            return
        engines = [each for each in self._setting.world.processes if each.is_alive and each.label.startswith("engine")]
        if engines:
            engine, offset = self._random.choice(engines), self._random.uniform(-_JUMP, _JUMP)
            engine.clock.offset += offset
            self._setting.story.tell(engine.host, f"has a clock that is {engine.clock.offset:.1f} s ahead")
            seconds = min(self._random.uniform(10.0, 1_800.0), self._setting.calm - scheduler.now)
            self._setting.disturbances.add(self.name, scheduler.now + seconds)
            scheduler.call_later(seconds, lambda: self._set_right(engine.host, engine.clock))
        self._wait()

    def _set_right(self, host: str, clock: HostClock) -> None:
        clock.offset = 0.0
        self._setting.story.tell(host, "has a clock that is right again")


class SeparatedEngines:
    """Keeps one engine from the coordination service, so that another one takes over while this one runs on."""

    name = "separation"

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._weather = setting.weather("separation")
        self._is_away = False
        self._host = ""
        setting.world.elections.is_away = self._strike

    def _strike(self, process: Process) -> bool:
        is_bad = self._weather.is_bad()
        if is_bad and not self._is_away:
            self._host = process.host
            self._setting.story.tell(self._host, "does not reach the coordination service")
        self._is_away = is_bad
        return is_bad and process.host == self._host
