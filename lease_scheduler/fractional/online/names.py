"""The names of the on-line algorithms (Stillwell 2010, section 5.2.4).

A name says what happens when a job is submitted, whether waiting jobs are started whenever they fit (``*``), whether
everything is mapped anew periodically (``/per``), how CPU is shared, and which running jobs then keep their nodes::

    GreedyPM*/per/OPT=MIN/MVT=600
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from lease_scheduler.model.errors import InvalidValueError


class Submission(Enum):
    """What happens to a job that is submitted; the values are those in names."""

    NOTHING = ""
    GREEDY = "Greedy"
    GREEDY_PAUSE = "GreedyP"
    GREEDY_PAUSE_OR_MOVE = "GreedyPM"
    REMAP = "MCB"


class Periodic(Enum):
    """What happens periodically; the values are those in names.

    :cvar NOTHING: nothing
    :cvar YIELD: everything is mapped anew at the highest possible yield
    :cvar STRETCH: everything is mapped anew so that the largest stretch is estimated to be lowest at the next period
    """

    NOTHING = ""
    YIELD = "/per"
    STRETCH = "/stretch-per"


class Sharing(Enum):
    """How the CPU that is left is shared, once every job has the least yield; the values are those in names.

    :cvar LEAST: the lowest yields are as high as they can be
    :cvar AVERAGE: the average yield (with ``Periodic.STRETCH``, that of the inverse of estimated stretches) is highest
    :cvar STRETCH: the largest estimated stretches are as low as they can be
    """

    LEAST = "MIN"
    AVERAGE = "AVG"
    STRETCH = "MAX"


@dataclass(frozen=True)
class Algorithm:
    """What an on-line algorithm does.

    :ivar submission: on submission
    :ivar opportunistic: on every event: start waiting and paused jobs where they fit; with ``Submission.REMAP``, map
        everything anew when a job ends
    :ivar periodic: periodically
    :ivar sharing: how CPU is shared
    :ivar min_flow_time: running jobs that were submitted less than this many seconds ago keep their nodes when
        everything is mapped anew; None for no such rule
    :ivar min_virtual_time: running jobs with less virtual time than this many seconds keep their nodes then; None for
        no such rule
    """

    submission: Submission
    opportunistic: bool
    periodic: Periodic
    sharing: Sharing
    min_flow_time: int | None = None
    min_virtual_time: int | None = None

    @property
    def maps_anew(self) -> bool:
        """Return whether it ever maps everything anew."""
        return _maps_anew(self.submission, self.periodic)

    def __str__(self) -> str:
        """Return the name."""
        name = f"{self.submission.value}{'*' if self.opportunistic else ''}{self.periodic.value}"
        name += f"/OPT={self.sharing.value}"
        for label, bound in (("MFT", self.min_flow_time), ("MVT", self.min_virtual_time)):
            if bound is not None:
                name += f"/{label}={bound}"
        return name


_NAME = re.compile(r"(?P<base>[^=]*)/OPT=(?P<sharing>MIN|AVG|MAX)(?:/(?P<bound>MFT|MVT)=(?P<seconds>[1-9][0-9]{0,8}))?")

#: Everything before the sharing, and whether something is mapped anew, so that jobs can keep their nodes then.
_BASES: dict[str, tuple[Submission, bool, Periodic]] = {
    f"{submission.value}{'*' if star else ''}{periodic.value}": (submission, star, periodic)
    for submission, star, periodic in (
        *((each, True, Periodic.NOTHING) for each in Submission if each is not Submission.NOTHING),
        *((each, False, Periodic.YIELD) for each in Submission),
        *((each, True, Periodic.YIELD) for each in Submission if each is not Submission.NOTHING),
        (Submission.NOTHING, False, Periodic.STRETCH),
    )
}


def _sharings(periodic: Periodic) -> tuple[Sharing, Sharing]:
    other = Sharing.STRETCH if periodic is Periodic.STRETCH else Sharing.LEAST
    return Sharing.AVERAGE, other


def _maps_anew(submission: Submission, periodic: Periodic) -> bool:
    return submission is Submission.REMAP or periodic is not Periodic.NOTHING


def parse(name: str) -> Algorithm:
    """Return the algorithm of a name. Bounds (MFT, MVT) may be any number of seconds.

    :raises InvalidValueError: there is no such algorithm
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise InvalidValueError(
            "algorithm", f"must be a name such as 'GreedyPM*/per/OPT=MIN' or '/per/OPT=AVG/MVT=600', not {name!r}"
        )
    if match["base"] not in _BASES:
        known = ", ".join(base for base in _BASES)
        raise InvalidValueError("algorithm", f"must begin with one of {known}, not {match['base']!r}")
    submission, star, periodic = _BASES[match["base"]]
    sharing = Sharing(match["sharing"])
    if sharing not in _sharings(periodic):
        words = " or ".join(f"OPT={each.value}" for each in _sharings(periodic))
        raise InvalidValueError("algorithm", f"{match['base']} must have {words}, not OPT={sharing.value}")
    if match["bound"] and not _maps_anew(submission, periodic):
        # Jobs can keep their nodes only while others are mapped anew.
        raise InvalidValueError("algorithm", f"{match['base']} must have no {match['bound']}, as it maps nothing anew")
    seconds = int(match["seconds"]) if match["bound"] else None
    flow, virtual = (seconds if match["bound"] == bound else None for bound in ("MFT", "MVT"))
    return Algorithm(submission, star, periodic, sharing, flow, virtual)


#: The 116 names with the bounds of the dissertation.
NAMES: tuple[str, ...] = tuple(
    f"{base}/OPT={sharing.value}{bound}"
    for base, (submission, _, periodic) in _BASES.items()
    for sharing in _sharings(periodic)
    for bound in (("", "/MFT=300", "/MFT=600", "/MVT=300", "/MVT=600") if _maps_anew(submission, periodic) else ("",))
)
