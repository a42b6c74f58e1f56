"""Laws: the probability distributions that generators draw from (haizea F88; Sotomayor 2010, appendix A.3.3).

Every law but the normal one computes its values from the doubles of ``Generator.random``. The bit generator determines
the stream of these doubles, so a seed keeps its meaning across releases of numpy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError

Values = NDArray[np.float64]

#: Largest excess of a Pareto variable that is kept. The range from 0 to it is mapped to the whole range of the values.
#: With shape and scale 1, 73.3 % of the values are in the lowest fifth.
_PARETO_WIDTH = 10.0

#: Maximum number of values of a discrete law; a longer list is most likely a mistake.
_MAX_CHOICES = 1_000_000


class Distribution(Protocol):
    """A law over real numbers between two bounds."""

    @property
    def minimum(self) -> float:
        """The smallest value that can be drawn; may be infinite."""

    @property
    def maximum(self) -> float:
        """The largest value that can be drawn; may be infinite."""

    def draw(self, rng: np.random.Generator, size: int) -> Values:
        """Draw independent values, shape ``(size,)``; two draws of n and m values equal one draw of n + m values."""


def _check_bounds(minimum: float, maximum: float) -> None:
    if math.isnan(minimum) or math.isnan(maximum) or minimum > maximum:
        raise InvalidValueError("min", f"must not be larger than max, but {minimum:g} > {maximum:g}")


def _check_finite_bounds(minimum: float, maximum: float) -> None:
    if not (math.isfinite(minimum) and math.isfinite(maximum)):
        raise InvalidValueError("min", "this law needs finite bounds min and max")
    _check_bounds(minimum, maximum)


def _check_positive(field: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise InvalidValueError(field, f"must be a number above 0, not {value:g}")


@dataclass(frozen=True)
class Constant:
    """The law of a constant."""

    value: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise InvalidValueError("value", f"must be finite, not {self.value:g}")

    @property
    def minimum(self) -> float:
        """The value."""
        return self.value

    @property
    def maximum(self) -> float:
        """The value."""
        return self.value

    def draw(self, rng: np.random.Generator, size: int) -> Values:
        """Return the value ``size`` times, without drawing from the stream."""
        return np.full(size, self.value, dtype=np.float64)


@dataclass(frozen=True)
class Uniform:
    """The uniform law over ``[minimum, maximum)``."""

    minimum: float
    maximum: float

    def __post_init__(self) -> None:
        _check_finite_bounds(self.minimum, self.maximum)

    def draw(self, rng: np.random.Generator, size: int) -> Values:
        """Draw independent values, shape ``(size,)``."""
        return self.minimum + rng.random(size) * (self.maximum - self.minimum)


@dataclass(frozen=True)
class DiscreteUniform:
    """The uniform law over the whole numbers from ``minimum`` to ``maximum``, both included."""

    minimum: int
    maximum: int

    def __post_init__(self) -> None:
        _check_bounds(self.minimum, self.maximum)

    def draw(self, rng: np.random.Generator, size: int) -> Values:
        """Draw independent whole numbers, shape ``(size,)``."""
        count = self.maximum - self.minimum + 1
        return self.minimum + np.minimum(np.floor(rng.random(size) * count), count - 1)


@dataclass(frozen=True)
class BoundedNormal:
    """A normal law whose values beyond a bound are replaced by that bound; a bound may be infinite.

    :ivar mean: mean of the normal law, not of the bounded one
    :ivar standard_deviation: standard deviation of the normal law, above 0
    """

    minimum: float
    maximum: float
    mean: float
    standard_deviation: float

    def __post_init__(self) -> None:
        _check_bounds(self.minimum, self.maximum)
        if not math.isfinite(self.mean):
            raise InvalidValueError("mu", f"must be finite, not {self.mean:g}")
        _check_positive("sigma", self.standard_deviation)

    def draw(self, rng: np.random.Generator, size: int) -> Values:
        """Draw independent values, shape ``(size,)``."""
        return np.clip(self.mean + self.standard_deviation * rng.standard_normal(size), self.minimum, self.maximum)


@dataclass(frozen=True)
class BoundedPareto:
    """The Pareto law restricted to ``[minimum, maximum]``, both above 0.

    :ivar shape: shape of the law, above 0; the larger it is, the more values lie near the minimum
    """

    minimum: float
    maximum: float
    shape: float

    def __post_init__(self) -> None:
        _check_finite_bounds(self.minimum, self.maximum)
        _check_positive("min", self.minimum)
        _check_positive("alpha", self.shape)

    def draw(self, rng: np.random.Generator, size: int) -> Values:
        """Draw independent values, shape ``(size,)``."""
        share_below = 1.0 - (self.minimum / self.maximum) ** self.shape
        values: Values = self.minimum * (1.0 - rng.random(size) * share_below) ** (-1.0 / self.shape)
        return np.clip(values, self.minimum, self.maximum)


@dataclass(frozen=True)
class TruncatedPareto:
    """The excess of a Pareto variable over its scale, truncated at 10 and mapped from 0..10 to ``[minimum, maximum]``.

    With shape and scale 1, the excess is ``1/u - 1`` for a uniform ``u``, drawn again while it is above 10. This is
    equivalent to drawing ``u`` from the part of the unit interval that is kept, so one uniform number per value
    suffices.

    :ivar shape: shape of the Pareto law, above 0
    :ivar scale: scale of the Pareto law, above 0
    """

    minimum: float
    maximum: float
    shape: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        _check_finite_bounds(self.minimum, self.maximum)
        _check_positive("alpha", self.shape)
        _check_positive("scale", self.scale)

    def draw(self, rng: np.random.Generator, size: int) -> Values:
        """Draw independent values, shape ``(size,)``."""
        kept = 1.0 - (1.0 + _PARETO_WIDTH / self.scale) ** -self.shape
        excess = self.scale * ((1.0 - rng.random(size) * kept) ** (-1.0 / self.shape) - 1.0)
        values: Values = self.minimum + excess / _PARETO_WIDTH * (self.maximum - self.minimum)
        return np.clip(values, self.minimum, self.maximum)


@dataclass(frozen=True)
class Inverted:
    """Another law, mirrored at the middle between its bounds, which must be finite."""

    law: Distribution

    def __post_init__(self) -> None:
        if not (math.isfinite(self.law.minimum) and math.isfinite(self.law.maximum)):
            raise InvalidValueError("invert", "needs finite bounds min and max")

    @property
    def minimum(self) -> float:
        """The same as that of the mirrored law."""
        return self.law.minimum

    @property
    def maximum(self) -> float:
        """The same as that of the mirrored law."""
        return self.law.maximum

    def draw(self, rng: np.random.Generator, size: int) -> Values:
        """Draw independent values, shape ``(size,)``."""
        return self.maximum - (self.law.draw(rng, size) - self.minimum)


@dataclass(frozen=True)
class DiscreteChoice:
    """The choice of one of k given values: the one at index ``floor(p * k)`` for a position ``p`` in [0, 1].

    :ivar values: the values to choose from, at least one
    :ivar position: law of the position, with bounds between 0 and 1
    """

    values: tuple[float, ...]
    position: Distribution

    def __post_init__(self) -> None:
        if not self.values:
            raise InvalidValueError("values", "needs at least one value")
        if self.position.minimum < 0 or self.position.maximum > 1:
            raise InvalidValueError("values", "the position law must stay between 0 and 1")

    @property
    def minimum(self) -> float:
        """The smallest of the values."""
        return min(self.values)

    @property
    def maximum(self) -> float:
        """The largest of the values."""
        return max(self.values)

    def draw(self, rng: np.random.Generator, size: int) -> Values:
        """Draw independent choices, shape ``(size,)``."""
        return np.asarray(self.values, dtype=np.float64)[choose_indices(self.position, len(self.values), rng, size)]


def choose_indices(position: Distribution, count: int, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    """Draw positions in [0, 1], and return their indices below ``count``; a position of exactly 1 is the last index."""
    return np.minimum(np.floor(position.draw(rng, size) * count).astype(np.int64), count - 1)


#: Options that describe a law in a section of a generator configuration.
DISTRIBUTION_OPTIONS = frozenset(
    {"distribution", "discrete", "min", "max", "value", "values", "mu", "sigma", "alpha", "scale", "invert"}
)

_LAW_NAMES = ("constant", "uniform", "normal", "bounded-pareto", "truncated-pareto")


def distribution_from(section: Mapping[str, str]) -> Distribution:
    """Return the law that a section of a generator configuration describes.

    The option ``distribution`` is one of these, with further options in parentheses:

    * ``uniform`` (min, max)
    * ``normal`` (mu, sigma; min and max may be ``unbounded`` or omitted)
    * ``bounded-pareto`` (alpha, min, max)
    * ``truncated-pareto`` (min, max; alpha and scale are 1 by default)
    * ``constant`` (value)

    ``invert`` mirrors either Pareto law. With ``discrete``, the uniform or the truncated Pareto law chooses from
    ``values`` (numbers separated by blanks) or from the whole numbers min..max.

    :raises InvalidValueError: an option is missing or wrong; the error names it
    """
    name = _required(section, "distribution")
    if name not in _LAW_NAMES:
        raise InvalidValueError("distribution", f"must be one of {', '.join(_LAW_NAMES)}, not {name!r}")
    if parse_flag(section, "discrete"):
        return DiscreteChoice(_choices(section), position_from(section))
    if name == "constant":
        return Constant(_number(section, "value"))
    if name == "normal":
        return BoundedNormal(
            _bound(section, "min", -math.inf),
            _bound(section, "max", math.inf),
            _number(section, "mu"),
            _number(section, "sigma"),
        )
    return _bounded_law(section, name, _number(section, "min"), _number(section, "max"))


def position_from(section: Mapping[str, str]) -> Distribution:
    """Return the law of a position in [0, 1] for a discrete choice: uniform or truncated Pareto.

    :raises InvalidValueError: an option is missing or wrong; the error names it
    """
    name = _required(section, "distribution")
    if name not in ("uniform", "truncated-pareto"):
        raise InvalidValueError("distribution", f"a choice is uniform or truncated-pareto, not {name!r}")
    return _bounded_law(section, name, 0.0, 1.0)


def parse_flag(section: Mapping[str, str], option: str) -> bool:
    """Return the value of a yes/no option; it is no by default.

    :raises InvalidValueError: the text is neither yes nor no
    """
    text = section.get(option, "no").strip().lower()
    if text in ("1", "yes", "true", "on"):
        return True
    if text in ("0", "no", "false", "off"):
        return False
    raise InvalidValueError(option, f"must be true or false, not {text!r}")


def _bounded_law(section: Mapping[str, str], name: str, minimum: float, maximum: float) -> Distribution:
    if name == "uniform":
        return Uniform(minimum, maximum)
    law: Distribution
    if name == "bounded-pareto":
        law = BoundedPareto(minimum, maximum, _number(section, "alpha"))
    else:
        law = TruncatedPareto(minimum, maximum, _number(section, "alpha", 1.0), _number(section, "scale", 1.0))
    return Inverted(law) if parse_flag(section, "invert") else law


def _choices(section: Mapping[str, str]) -> tuple[float, ...]:
    if "values" in section:
        return tuple(_parse_number("values", word) for word in section["values"].split())
    minimum, maximum = _number(section, "min"), _number(section, "max")
    _check_finite_bounds(minimum, maximum)
    if maximum - minimum >= _MAX_CHOICES:
        raise InvalidValueError("max", f"a discrete law chooses from at most {_MAX_CHOICES} whole numbers")
    return tuple(float(value) for value in range(math.ceil(minimum), math.floor(maximum) + 1))


def _required(section: Mapping[str, str], option: str) -> str:
    if option not in section:
        raise InvalidValueError(option, "is missing; give it")
    return section[option].strip()


def _parse_number(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidValueError(option, f"must be a number, not {text.strip()!r}")
    return value


def _number(section: Mapping[str, str], option: str, default: float | None = None) -> float:
    if default is not None and option not in section:
        return default
    return _parse_number(option, _required(section, option))


def _bound(section: Mapping[str, str], option: str, unbounded: float) -> float:
    text = section.get(option, "unbounded").strip()
    return unbounded if text == "unbounded" else _parse_number(option, text)
