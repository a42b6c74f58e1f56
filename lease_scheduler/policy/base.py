"""What policies of all families have in common: a name and options."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, ClassVar

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import Lease
from lease_scheduler.policy.outcomes import Outcome

#: What a policy has learnt about one subject: plain values that fit into JSON.
Learnt = Mapping[str, Any]


class PolicyOptions(Mapping[str, str]):
    """The ``[policy] options`` of an operator as a mapping, with typed access.

    :param values: option name -> text
    """

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = dict(values or {})

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def integer(self, name: str, default: int) -> int:
        """Return an option as a whole number of at least 0, or the default if it is not set.

        :raises InvalidValueError: it is something else
        """
        text = self._values.get(name)
        if text is None:
            return default
        if not text.isdecimal():
            raise InvalidValueError(f"policy option {name}", f"must be a whole number of at least 0, not {text!r}")
        return int(text)

    def number(self, name: str, default: float) -> float:
        """Return an option as a number of at least 0, or the default if it is not set.

        :raises InvalidValueError: it is something else
        """
        text = self._values.get(name)
        if text is None:
            return default
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not isfinite(value) or value < 0:
            raise InvalidValueError(f"policy option {name}", f"must be a number of at least 0, not {text!r}")
        return value

    def choice(self, name: str, choices: Sequence[str], default: str) -> str:
        """Return an option that is one of these words, or the default if it is not set.

        :raises InvalidValueError: it is something else
        """
        text = self._values.get(name, default)
        if text not in choices:
            raise InvalidValueError(f"policy option {name}", f"must be {' or '.join(choices)}, not {text!r}")
        return text


class Policy(ABC):  # noqa: B024 - each family adds its abstract methods
    """A decision that an operator selects by name; the base class of every family.

    The methods of a family are declared once. Those that the planner calls are Protocols in ``plan.interfaces``,
    because ``plan`` must not import policies, and the base class of such a family extends its Protocol. The others are
    abstract methods of the base class of the family, which the engine uses as it is.

    A policy may learn. What it has learnt is a set of entries, one for each subject such as a project. The service
    stores them in the transaction in which they were learnt, so that the next engine goes on with them. A policy learns
    from outcomes only, never while it answers a question: questions are also asked for quotes and trials. A policy that
    overrides ``observe`` is told of the outcomes of all leases.

    :param options: what the operator set for policies
    :ivar name: name of its entry point
    :cvar observes: whether it is told of outcomes; follows from its methods
    :cvar keeps_when_replaced: whether what it has learnt is kept while another policy of its family is in use
    """

    name = ""
    observes: ClassVar[bool] = False
    keeps_when_replaced: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Note whether policies of the class are to be told of outcomes."""
        super().__init_subclass__(**kwargs)
        cls.observes = cls.observe is not Policy.observe

    def __init__(self, options: PolicyOptions) -> None:
        self.options = options

    def observe(self, outcome: Outcome, lease: Lease, before: Lease | None, now: int) -> None:  # noqa: B027 - most learn nothing
        """Learn from what became of a lease. Called when it is certain, in the order in which it happens.

        :param lease: its value since then; for an end it holds nothing any more
        :param before: its value before, or None if it is new
        :param now: the present instant
        """

    def take_changes(self) -> Mapping[str, Learnt | None]:
        """Return what has been learnt since the last call: the entries that are new or different, by subject.

        An entry that is None is forgotten.
        """
        return {}

    def restore(self, learnt: Mapping[str, Learnt]) -> None:  # noqa: B027 - most policies learn nothing
        """Go on with exactly these entries, by subject, and forget everything else that was learnt."""
