"""A cloud whose services fail, answer too late, or are not reached."""

from __future__ import annotations

from collections.abc import Sequence

import requests

from lease_scheduler.rehearsal.cloud.http import Answer, Request
from lease_scheduler.rehearsal.faults.setting import Setting
from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.site import RequestFaults
from lease_scheduler.rehearsal.swarm import pace, stream

#: Probability that a request fails in bad weather.
_FAILS = 0.2

_STATUSES = (500, 502, 503, 504)

#: Seconds between two losses of all tokens at most: mean of an exponential distribution.
_BETWEEN_EXPIRIES = 3_000.0

#: Seconds after which clients give up.
_PATIENCE = 60.0


class ManyRequestFaults(RequestFaults):
    """All faults of a seed, one after the other."""

    def __init__(self, faults: Sequence[RequestFaults]) -> None:
        self._faults = faults

    def before(self, process: Process, request: Request) -> Answer | None:
        """See ``RequestFaults``."""
        for each in self._faults:
            answer = each.before(process, request)
            if answer is not None:
                return answer
        return None

    def after(self, process: Process, request: Request, answer: Answer) -> Answer:
        """See ``RequestFaults``."""
        for each in self._faults:
            answer = each.after(process, request, answer)
        return answer


class FailingServices(RequestFaults):
    """Services answer that they have failed, before they have done something or after it."""

    name = "cloud-errors"

    def __init__(self, setting: Setting) -> None:
        self._weather, self._story = setting.weather("cloud-errors", 300.0), setting.story

    def before(self, process: Process, request: Request) -> Answer | None:
        """See ``RequestFaults``."""
        return self._failure(process, request, "before") if self._weather.strikes(_FAILS / 2) else None

    def after(self, process: Process, request: Request, answer: Answer) -> Answer:
        """See ``RequestFaults``."""
        return self._failure(process, request, "after") if self._weather.strikes(_FAILS / 2) else answer

    def _failure(self, process: Process, request: Request, moment: str) -> Answer:
        status = self._weather.random.choice(_STATUSES)
        self._story.tell(
            request.service, f"fails {moment} {request.method} {request.path} of {process.label}: {status}"
        )
        return Answer(status, {"error": {"code": status, "message": "something has failed"}})


class SilentServices(RequestFaults):
    """Services do not answer in time, or at all, before they have done something or after it."""

    name = "cloud-silence"

    def __init__(self, setting: Setting) -> None:
        self._weather, self._story = setting.weather("cloud-silence", 300.0), setting.story
        self._scheduler = setting.world.scheduler

    def before(self, process: Process, request: Request) -> Answer | None:
        """See ``RequestFaults``."""
        if self._weather.strikes(_FAILS / 2):
            self._story.tell(request.service, f"is not reached: {request.method} {request.path} of {process.label}")
            raise requests.ConnectionError("the service is not reached")
        return None

    def after(self, process: Process, request: Request, answer: Answer) -> Answer:
        """See ``RequestFaults``."""
        if self._weather.strikes(_FAILS / 2):
            self._story.tell(request.service, f"answers too late: {request.method} {request.path} of {process.label}")
            self._scheduler.sleep(_PATIENCE)
            raise requests.ReadTimeout("the service has not answered in time")
        return answer


class HangingServices(RequestFaults):
    """Services do nothing with a request, and the client waits until it gives up."""

    name = "cloud-hangs"

    def __init__(self, setting: Setting) -> None:
        self._weather, self._story = setting.weather(self.name, 300.0), setting.story
        self._scheduler = setting.world.scheduler

    def before(self, process: Process, request: Request) -> Answer | None:
        """See ``RequestFaults``."""
        if self._weather.strikes(_FAILS / 2):
            self._story.tell(request.service, f"hangs: {request.method} {request.path} of {process.label}")
            self._scheduler.sleep(_PATIENCE)
            raise requests.ReadTimeout("the service has not answered in time")
        return None


class ExpiringTokens(RequestFaults):
    """Keystone does not know its tokens any more, as when its keys are rotated too early."""

    name = "expired-tokens"

    def __init__(self, setting: Setting) -> None:
        self._setting, self._random = setting, stream(setting.seed, self.name)
        self._wait()

    def _wait(self) -> None:
        seconds = self._random.expovariate(1.0 / (_BETWEEN_EXPIRIES * pace(self._setting.seed)))
        self._setting.world.scheduler.call_later(seconds, self._expire)

    def _expire(self) -> None:
        site, now = self._setting.site, self._setting.world.scheduler.now
        if site is not None and now < self._setting.calm:
            site.cloud.keystone.tokens.clear()
            self._setting.disturbances.begin(self.name)()
            self._setting.story.tell("identity", "knows none of its tokens any more")
            self._wait()
