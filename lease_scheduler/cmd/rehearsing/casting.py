"""Who and what takes part in a rehearsal: by name, or as the seed decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.rehearsal.actors import operators, tenants
from lease_scheduler.rehearsal.actors.hosts import FATES, fates_for
from lease_scheduler.rehearsal.faults import catalogue

_NONE = "none"


@dataclass(frozen=True)
class Cast:
    """What may happen in a world. None stands for what the seed switches on.

    :ivar faults: what goes wrong
    :ivar verbs: what tenants and strangers do
    :ivar acts: what operators do
    :ivar fates: what happens to hosts
    """

    faults: tuple[str, ...] | None = None
    verbs: tuple[str, ...] | None = None
    acts: tuple[str, ...] | None = None
    fates: tuple[str, ...] | None = None

    def drawn(self, seed: int, *, with_nova: bool) -> Cast:
        """Return the cast with everything that a seed decides.

        :param with_nova: whether the cloud is the model with Keystone and Nova
        """
        by_seed: dict[str, Callable[[], tuple[str, ...]]] = {
            "faults": lambda: catalogue.names_for(seed),
            "verbs": lambda: tenants.verbs_for(seed, with_nova=with_nova),
            "acts": lambda: operators.acts_for(seed, with_nova=with_nova),
            "fates": lambda: fates_for(seed) if with_nova else (),
        }
        return Cast(**{name: _either(getattr(self, name), draw) for name, draw in by_seed.items()})


def _either(said: tuple[str, ...] | None, draw: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    return draw() if said is None else said


#: What arguments may name.
_KNOWN: dict[str, Sequence[str]] = {
    "faults": catalogue.NAMES,
    "verbs": tenants.known_verbs(with_nova=True),
    "acts": operators.known_acts(with_nova=True),
    "fates": tuple(FATES),
}


def parse(name: str, text: str | None) -> tuple[str, ...] | None:
    """Return the names that an argument lists, or None if there is no argument.

    :param name: name of a part of a cast
    :raises InvalidValueError: there is no such name
    """
    if text is None:
        return None
    found = () if text == _NONE else tuple(text.split(","))
    for each in found:
        if each not in _KNOWN[name]:
            known = ", ".join(_KNOWN[name])
            raise InvalidValueError(f"--{name}", f"there is no {each!r}; give some of {known}, or {_NONE}")
    return found


def named(cast: Cast) -> dict[str, str]:
    """Return the arguments that give a cast, without those that are left to the seed."""
    said = {each.name: getattr(cast, each.name) for each in fields(cast)}
    return {name: ",".join(value) or _NONE for name, value in said.items() if value is not None}
