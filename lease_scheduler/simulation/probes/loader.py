"""Loading of probes by name, from any installed package (stevedore)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from stevedore import DriverManager, ExtensionManager
from stevedore.exception import NoMatches

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.accounting import Accounting
from lease_scheduler.simulation.probes.base import Probe

_NAMESPACE = "lease_scheduler.probe"


def load_probes(names: Iterable[str], accounting: Accounting) -> tuple[Probe, ...]:
    """Load the probes with these names, each once, in the given order.

    :raises InvalidValueError: there is no probe with a name
    """
    return tuple(_load(name, accounting) for name in dict.fromkeys(names))


def probe_names() -> list[str]:
    """Return the names of the installed probes, sorted."""
    return sorted(ExtensionManager(_NAMESPACE, invoke_on_load=False).names())


def _load(name: str, accounting: Accounting) -> Probe:
    try:
        return cast(Probe, DriverManager(_NAMESPACE, name, invoke_on_load=True, invoke_args=(accounting,)).driver)
    except NoMatches:
        known = ", ".join(probe_names()) or "none; is the package installed?"
        raise InvalidValueError("accounting.probes", f"there is no probe {name!r}; installed are: {known}") from None
