"""Work that takes time: generators that are continued by the clock.

Work yields seconds to wait, or a call of its hypervisor. It ends by itself, with an error, or when its compute service
stops.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from lease_scheduler.rehearsal.cloud.timing import Timing


class PreemptedError(Exception):
    """Something else was done with the server meanwhile (Nova's UnexpectedTaskStateError)."""


class HypervisorError(Exception):
    """A hypervisor has failed to do something."""


@dataclass(frozen=True)
class HypervisorCall:
    """A call of a hypervisor.

    :ivar method: what is done, by the name in Nova's drivers
    :ivar server_id: the server
    :ivar host: name of the compute service, which is that of the work
    """

    method: str
    server_id: str
    host: str = ""


#: Work in progress.
Work = Generator[float | HypervisorCall, None, None]

#: Continues work after a call of a hypervisor; called with an error if the call has failed.
Proceed = Callable[[Exception | None], None]


class Process:
    """Work in progress.

    :param call: carries out a call of a hypervisor
    :param when_over: called at the end of the work, with its error or None; not if it is stopped
    """

    def __init__(
        self,
        timing: Timing,
        work: Work,
        call: Callable[[HypervisorCall, Proceed], None],
        when_over: Callable[[Exception | None], None],
    ) -> None:
        self._timing = timing
        self._work = work
        self._call = call
        self._when_over = when_over
        self._is_stopped = False

    def go_on(self, error: Exception | None = None) -> None:
        """Do the next step of the work.

        :param error: raised where the work waits
        """
        if self._is_stopped:
            return
        try:
            step = next(self._work) if error is None else self._work.throw(error)
        except StopIteration:
            self._when_over(None)
        except (PreemptedError, HypervisorError) as failure:
            self._when_over(failure)
        else:
            if isinstance(step, HypervisorCall):
                self._call(step, self.go_on)
            else:
                self._timing.call_later(step, self.go_on)

    def stop(self) -> None:
        """Stop the work where it is; nothing more is done, not even cleaned up."""
        self._is_stopped = True
