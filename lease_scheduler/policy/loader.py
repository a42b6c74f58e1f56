"""Policies by name, from any installed package (stevedore)."""

from __future__ import annotations

from typing import Any

from stevedore import DriverManager, ExtensionManager
from stevedore.exception import NoMatches

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy
from lease_scheduler.policy.mapper.base import MapperPolicy
from lease_scheduler.policy.preemption.base import PreemptionPolicy
from lease_scheduler.policy.pricing.base import PricingPolicy

_NAMESPACE = "lease_scheduler.policy."


def load_admission(name: str, options: PolicyOptions) -> AdmissionPolicy:
    """The admission policy of that name.

    :raises InvalidValueError: there is none, or an option of it is wrong
    """
    policy: AdmissionPolicy = _load("admission", name, options)
    return policy


def load_preemption(name: str, options: PolicyOptions) -> PreemptionPolicy:
    """The preemption policy of that name.

    :raises InvalidValueError: there is none, or an option of it is wrong
    """
    policy: PreemptionPolicy = _load("preemption", name, options)
    return policy


def load_host_selection(name: str, options: PolicyOptions) -> HostSelectionPolicy:
    """The host selection policy of that name.

    :raises InvalidValueError: there is none, or an option of it is wrong
    """
    policy: HostSelectionPolicy = _load("host_selection", name, options)
    return policy


def load_mapper(name: str, options: PolicyOptions) -> MapperPolicy:
    """The mapper of that name.

    :raises InvalidValueError: there is none, or an option of it is wrong
    """
    policy: MapperPolicy = _load("mapper", name, options)
    return policy


def load_pricing(name: str, options: PolicyOptions) -> PricingPolicy:
    """A pricing policy of that name, which has learnt nothing yet.

    :raises InvalidValueError: there is none, or an option of it is wrong
    """
    policy: PricingPolicy = _load("pricing", name, options)
    policy.name = name
    return policy


def policy_names(kind: str) -> list[str]:
    """Names of the installed policies of a kind, e.g. ``host_selection``."""
    return sorted(ExtensionManager(_NAMESPACE + kind, invoke_on_load=False).names())


def _load(kind: str, name: str, options: PolicyOptions) -> Any:
    try:
        return DriverManager(_NAMESPACE + kind, name, invoke_on_load=True, invoke_args=(options,)).driver
    except NoMatches:
        known = ", ".join(policy_names(kind)) or "none; is the package installed?"
        raise InvalidValueError(
            f"scheduling.policy_{kind}", f"there is no policy {name!r}; installed are: {known}"
        ) from None
