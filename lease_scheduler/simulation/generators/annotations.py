"""Random annotations: start delays, deadlines, images and users' rates (haizea F26, F77).

See Sotomayor 2010, sections 5.5.1, 6.4 and 8.3, and appendix A.3.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from lease_scheduler.model.delays import SLOWDOWN_BOUND
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.formats.lwf_terms import SoftwareTerm, StartTerm
from lease_scheduler.simulation.formats.lwfa import Annotations, LeaseAnnotation
from lease_scheduler.simulation.generators.distributions import (
    Constant,
    Distribution,
    Inverted,
    TruncatedPareto,
    Uniform,
    Values,
    choose_indices,
)
from lease_scheduler.simulation.workload import Workload

#: Largest start delay and largest wait after the requested start, in seconds; range of users' rates per node and hour.
MAX_START_DELAY = 86_400
MAX_WAIT = 604_800
RATE_RANGE = (0.10, 10.00)

_UNKNOWN_USERS = (None, "-1")


class StartDelayMode(Enum):
    """The unit of a drawn start delay: seconds, or multiples of the requested duration."""

    ABSOLUTE = "absolute"
    MULTIPLE_OF_DURATION = "multiple-of-duration"


class DeadlineStretchMode(Enum):
    """The meaning of a drawn deadline stretch.

    * ``absolute``: seconds that the lease may wait
    * ``multiple-of-duration``: the wait as a multiple of the duration
    * ``original-slowdown``: the share of the slowdown in the log that is granted again as wait; 0 at the lower bound
      of the law, 1 at its upper bound
    """

    ABSOLUTE = "absolute"
    MULTIPLE_OF_DURATION = "multiple-of-duration"
    ORIGINAL_SLOWDOWN = "original-slowdown"


@dataclass(frozen=True)
class ImageChoice:
    """The choice of an image for a lease: ``images[floor(p * k)]`` for a position ``p`` in [0, 1].

    :ivar images: the images to choose from; with a skewed law, the most popular first
    :ivar position: law of the position
    :raises InvalidValueError: there is no image, or the law has values outside [0, 1]
    """

    images: tuple[DiskImage, ...]
    position: Distribution

    def __post_init__(self) -> None:
        if not self.images:
            raise InvalidValueError("values", "needs at least one image")
        if self.position.minimum < 0 or self.position.maximum > 1:
            raise InvalidValueError("distribution", "the position law must stay between 0 and 1")


@dataclass(frozen=True)
class AnnotationRules:
    """Rules by which annotations are drawn for each lease; a part that is None is not annotated.

    :ivar start_delay: law of the time from submission to requested start, not negative
    :ivar start_mode: unit of the start delay
    :ivar deadline_stretch: law of the time that the deadline leaves to wait, not negative; without a start delay, the
        wait counts from the submission
    :ivar deadline_mode: meaning of the deadline stretch
    :ivar user_rate: law of the highest rate that a user accepts
    :ivar images: the choice of images
    :ivar attributes: attributes of the annotations
    :raises InvalidValueError: an option is wrong; the error names it
    """

    start_delay: Distribution | None = None
    start_mode: StartDelayMode = StartDelayMode.ABSOLUTE
    deadline_stretch: Distribution | None = None
    deadline_mode: DeadlineStretchMode = DeadlineStretchMode.ABSOLUTE
    user_rate: Distribution | None = None
    images: ImageChoice | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        laws = {"start-delay": self.start_delay, "deadline-stretch": self.deadline_stretch, "user-rate": self.user_rate}
        for name, law in laws.items():
            if law is not None and not law.minimum >= 0:
                raise InvalidValueError(name, f"the law must not go below 0, but its minimum is {law.minimum:g}")
        stretch = self.deadline_stretch
        if (
            stretch is not None
            and self.deadline_mode is DeadlineStretchMode.ORIGINAL_SLOWDOWN
            and not (stretch.maximum > stretch.minimum and math.isfinite(stretch.maximum))
        ):
            raise InvalidValueError("deadline-stretch", "original-slowdown needs a law with min below max, both finite")

    @property
    def needs_leases(self) -> bool:
        """Whether the drawn values depend on the lease, so that positional annotations are not possible."""
        return self.deadline_stretch is not None or (
            self.start_delay is not None and self.start_mode is not StartDelayMode.ABSOLUTE
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing is drawn."""
        return not any((self.start_delay, self.deadline_stretch, self.user_rate, self.images))


def generate_annotations(
    rules: AnnotationRules, workload: Workload, seed: int, seeds: Mapping[str, int] | None = None
) -> Annotations:
    """Generate an annotation for every lease of a workload, identified by the lease's id.

    Instants are whole seconds from the submission, rounded to the nearest. A user has one rate for all leases; each
    lease of an unknown user has its own. The extras have two decimals: ``simul_start_delta`` (the drawn delay),
    ``simul_deadline_tau`` ((deadline - start) / duration - 1, which is the slack minus 1) and ``simul_userrate``.

    :param seed: at least 0; the same rules, workload and seed give the same annotations
    :param seeds: different seeds for the parts ``start-delay``, ``deadline-stretch``, ``user-rate`` or ``software``
    :raises InvalidValueError: a seed is negative, or the log's wait or run time is missing where the rules need it
    """
    requests = [lease.request for lease in workload.leases]
    draws = _Draws(seed, seeds or {}, len(requests))
    durations = np.array([request.duration for request in requests], dtype=np.float64)
    extras: list[dict[str, str]] = [{} for _ in requests]
    starts: list[int | None] = [None] * len(requests)
    deadlines: list[int | None] = [None] * len(requests)
    offsets = np.zeros(len(requests))
    if rules.start_delay is not None:
        delays = draws.of(rules.start_delay, "start-delay")
        in_seconds = delays * durations if rules.start_mode is StartDelayMode.MULTIPLE_OF_DURATION else delays
        offsets = _nearest(in_seconds)
        starts = _whole(offsets)
        _note(extras, "simul_start_delta", delays)
    if rules.deadline_stretch is not None:
        stretches = draws.of(rules.deadline_stretch, "deadline-stretch")
        waits = _nearest(_waits(rules, stretches, requests, durations))
        starts = _whole(offsets)
        deadlines = _whole(offsets + waits + durations)
        _note(extras, "simul_deadline_tau", waits / durations)
    if rules.user_rate is not None:
        _note(extras, "simul_userrate", _by_user(draws.of(rules.user_rate, "user-rate"), requests))
    software = _software(rules.images, draws)
    return Annotations(
        tuple(
            LeaseAnnotation(
                lease_id=request.lease_id,
                start=None if start is None else StartTerm(exact=start),
                deadline=deadline,
                software=image,
                extras=extra,
            )
            for request, start, deadline, image, extra in zip(
                requests, starts, deadlines, software, extras, strict=True
            )
        ),
        dict(rules.attributes),
    )


def generate_positional_annotations(
    rules: AnnotationRules, count: int, seed: int, seeds: Mapping[str, int] | None = None
) -> Annotations:
    """Generate annotations for any workload, to be applied in its order of submission (Sotomayor 2010, section 6.4).

    Delay, rate and image are independent of the lease. Otherwise this is as ``generate_annotations``.

    :param count: number of annotations, at least 1
    :raises InvalidValueError: the rules depend on the leases, or the count or a seed is wrong
    """
    if count < 1:
        raise InvalidValueError("count", f"must be at least 1, not {count}")
    if rules.needs_leases:
        raise InvalidValueError(
            "start-delay", "annotations by position need parts that do not depend on the lease; give a workload"
        )
    draws = _Draws(seed, seeds or {}, count)
    extras: list[dict[str, str]] = [{} for _ in range(count)]
    starts: list[int | None] = [None] * count
    if rules.start_delay is not None:
        delays = draws.of(rules.start_delay, "start-delay")
        starts = _whole(_nearest(delays))
        _note(extras, "simul_start_delta", delays)
    if rules.user_rate is not None:
        _note(extras, "simul_userrate", draws.of(rules.user_rate, "user-rate"))
    return Annotations(
        tuple(
            LeaseAnnotation(start=None if start is None else StartTerm(exact=start), software=image, extras=extra)
            for start, image, extra in zip(starts, _software(rules.images, draws), extras, strict=True)
        ),
        dict(rules.attributes),
    )


def law_by_name(name: str, minimum: float, maximum: float) -> Distribution:
    """Return one of the laws of the deadline and pricing experiments (Sotomayor 2010, sections 5.5.1 and 8.3).

    :param name: ``pareto`` (skewed to the minimum: EARLY, TIGHT, CHEAP), ``invpareto`` (skewed to the maximum: LATE,
        LOOSE, RICH), ``uniform``, or ``constant`` (1.0 regardless of the bounds)
    :raises InvalidValueError: the name is unknown
    """
    match name:
        case "pareto":
            return TruncatedPareto(minimum, maximum)
        case "invpareto":
            return Inverted(TruncatedPareto(minimum, maximum))
        case "uniform":
            return Uniform(minimum, maximum)
        case "constant":
            return Constant(1.0)
    raise InvalidValueError("law", f"must be pareto, invpareto, uniform or constant, not {name!r}")


def generate_deadline_annotations(
    workload: Workload, start_law: str, deadline_law: str, seed: int, rate_law: str | None = None
) -> Annotations:
    """Generate the annotations of the deadline and pricing experiments (Sotomayor 2010, sections 5.5.1 and 8.3).

    The start is the submission plus a delay of 0..86,400 s. The deadline is the start plus a wait of 0..604,800 s plus
    the duration. Each user has one rate of 0.10..10.00.

    :param start_law: law of the delay: ``pareto``, ``uniform`` or ``invpareto``, see ``law_by_name``
    :param deadline_law: law of the wait: one of the same
    :param seed: at least 0
    :param rate_law: law of the rate: one of the same or ``constant``; None for no rates
    :return: annotations with the names of the laws as attributes ``delta``, ``tau`` and, with rates, ``mu``
    :raises InvalidValueError: a name is unknown or the seed is negative
    """
    for name in (start_law, deadline_law):
        if name == "constant":
            raise InvalidValueError("law", "starts and deadlines follow pareto, invpareto or uniform, not constant")
    attributes = {"delta": start_law, "tau": deadline_law, **({} if rate_law is None else {"mu": rate_law})}
    rules = AnnotationRules(
        start_delay=law_by_name(start_law, 0, MAX_START_DELAY),
        deadline_stretch=law_by_name(deadline_law, 0, MAX_WAIT),
        user_rate=None if rate_law is None else law_by_name(rate_law, *RATE_RANGE),
        attributes=attributes,
    )
    return generate_annotations(rules, workload, seed)


def image_choice(law: str, count: int = 40, size_mb: int = 4096) -> ImageChoice:
    """Return the choice of images ``image-1`` and so on of the transfer experiment (Sotomayor 2010, section 6.4).

    :param law: ``uniform``, or ``pareto``, by which the first fifth of the images gets 73 % of the requests
    :param count: number of images
    :param size_mb: size of each image
    :raises InvalidValueError: the law is unknown, or there is no image
    """
    if law not in ("uniform", "pareto"):
        raise InvalidValueError("law", f"images follow uniform or pareto, not {law!r}")
    images = tuple(DiskImage(f"image-{number}", size_mb) for number in range(1, count + 1))
    return ImageChoice(images, law_by_name(law, 0, 1))


@dataclass(frozen=True)
class _Draws:
    """Random values for every lease. Each part is drawn from its own stream."""

    seed: int
    seeds: Mapping[str, int]
    size: int

    def stream(self, part: str) -> np.random.Generator:
        return random_stream(self.seeds.get(part, self.seed), part)

    def of(self, law: Distribution, part: str) -> Values:
        return law.draw(self.stream(part), self.size)


def _software(choice: ImageChoice | None, draws: _Draws) -> list[SoftwareTerm | None]:
    if choice is None:
        return [None] * draws.size
    indices = choose_indices(choice.position, len(choice.images), draws.stream("software"), draws.size)
    return [SoftwareTerm(choice.images[index]) for index in indices]


def _nearest(seconds: Values) -> Values:
    return np.floor(seconds + 0.5)


def _whole(seconds: Values) -> list[int | None]:
    return [int(value) for value in seconds]


def _note(extras: Sequence[dict[str, str]], name: str, values: Values) -> None:
    for extra, value in zip(extras, values, strict=True):
        extra[name] = f"{value:.2f}"


def _waits(rules: AnnotationRules, stretches: Values, requests: Sequence[LeaseRequest], durations: Values) -> Values:
    if rules.deadline_mode is DeadlineStretchMode.ABSOLUTE or rules.deadline_stretch is None:
        return stretches
    if rules.deadline_mode is DeadlineStretchMode.MULTIPLE_OF_DURATION:
        return stretches * durations
    law = rules.deadline_stretch
    recorded = np.array([_recorded_slowdown(request) for request in requests], dtype=np.float64)
    return (recorded - 1) * (stretches - law.minimum) / (law.maximum - law.minimum) * durations


def _recorded_slowdown(request: LeaseRequest) -> float:
    wait, run = (_recorded(request, name) for name in ("SWF_waittime", "SWF_runtime"))
    run = max(run, SLOWDOWN_BOUND)
    return (wait + run) / run


def _recorded(request: LeaseRequest, name: str) -> float:
    try:
        value = float(request.extras.get(name, ""))
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        problem = f"original-slowdown needs the extra {name} of at least 0 in lease {request.lease_id}"
        raise InvalidValueError("deadline-stretch", problem)
    return value


def _by_user(rates: Values, requests: Sequence[LeaseRequest]) -> Values:
    """Return a rate for each lease: for all leases of a user, the rate that was drawn for the first of them."""
    first: dict[str, int] = {}
    chosen = [
        index if request.user in _UNKNOWN_USERS else first.setdefault(str(request.user), index)
        for index, request in enumerate(requests)
    ]
    return rates[np.array(chosen, dtype=np.intp)]
