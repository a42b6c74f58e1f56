"""Policies by name, from any installed package (stevedore)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, overload

from stevedore import DriverManager, ExtensionManager
from stevedore.exception import NoMatches

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.admission.base import AdmissionPolicy, let_take_view
from lease_scheduler.policy.assurance.base import AssurancePolicy
from lease_scheduler.policy.base import Policy, PolicyOptions
from lease_scheduler.policy.duration.base import DurationPolicy
from lease_scheduler.policy.fractional.base import FractionalPolicy
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy
from lease_scheduler.policy.mapper.base import MapperPolicy
from lease_scheduler.policy.penalty.base import PenaltyPolicy
from lease_scheduler.policy.power.base import PowerPolicy
from lease_scheduler.policy.preemption.base import PreemptionPolicy
from lease_scheduler.policy.pricing.base import PricingPolicy
from lease_scheduler.policy.queueing.base import QueueingPolicy
from lease_scheduler.policy.relocation.base import RelocationPolicy

_NAMESPACE = "lease_scheduler.policy."

#: The families of policies and their base classes. A family is also the end of its option ``[scheduling] policy_*`` and
#: of its namespace of entry points.
FAMILIES: Mapping[str, type[Policy]] = MappingProxyType(
    {
        "admission": AdmissionPolicy,
        "preemption": PreemptionPolicy,
        "host_selection": HostSelectionPolicy,
        "mapper": MapperPolicy,
        "queueing": QueueingPolicy,
        "duration": DurationPolicy,
        "assurance": AssurancePolicy,
        "pricing": PricingPolicy,
        "penalty": PenaltyPolicy,
        "power": PowerPolicy,
        "relocation": RelocationPolicy,
        "fractional": FractionalPolicy,
    }
)


@overload
def load_policy(family: Literal["admission"], name: str, options: PolicyOptions) -> AdmissionPolicy: ...
@overload
def load_policy(family: Literal["preemption"], name: str, options: PolicyOptions) -> PreemptionPolicy: ...
@overload
def load_policy(family: Literal["host_selection"], name: str, options: PolicyOptions) -> HostSelectionPolicy: ...
@overload
def load_policy(family: Literal["mapper"], name: str, options: PolicyOptions) -> MapperPolicy: ...
@overload
def load_policy(family: Literal["queueing"], name: str, options: PolicyOptions) -> QueueingPolicy: ...
@overload
def load_policy(family: Literal["duration"], name: str, options: PolicyOptions) -> DurationPolicy: ...
@overload
def load_policy(family: Literal["assurance"], name: str, options: PolicyOptions) -> AssurancePolicy: ...
@overload
def load_policy(family: Literal["pricing"], name: str, options: PolicyOptions) -> PricingPolicy: ...
@overload
def load_policy(family: Literal["penalty"], name: str, options: PolicyOptions) -> PenaltyPolicy: ...
@overload
def load_policy(family: Literal["power"], name: str, options: PolicyOptions) -> PowerPolicy: ...
@overload
def load_policy(family: Literal["relocation"], name: str, options: PolicyOptions) -> RelocationPolicy: ...
@overload
def load_policy(family: Literal["fractional"], name: str, options: PolicyOptions) -> FractionalPolicy: ...
@overload
def load_policy(family: str, name: str, options: PolicyOptions) -> Policy: ...


def load_policy(family: str, name: str, options: PolicyOptions) -> Any:
    """Return a new policy of a family, which has learnt nothing yet.

    :param family: a key of ``FAMILIES``
    :param name: name of its entry point
    :param options: what the operator set for policies
    :raises InvalidValueError: no policy of that name is installed, it does not extend the base class of its family, or
        one of its options is wrong
    """
    try:
        policy: Any = DriverManager(_NAMESPACE + family, name, invoke_on_load=True, invoke_args=(options,)).driver
    except NoMatches:
        known = ", ".join(policy_names(family)) or "none; is the package installed?"
        raise InvalidValueError(
            f"scheduling.policy_{family}", f"there is no policy {name!r}; installed are: {known}"
        ) from None
    base = FAMILIES[family]
    if not isinstance(policy, base):
        raise InvalidValueError(f"scheduling.policy_{family}", f"{name!r} does not extend {base.__name__}")
    policy.name = name
    if isinstance(policy, AdmissionPolicy):
        let_take_view(policy)
    return policy


def policy_names(family: str) -> list[str]:
    """Return the names of the installed policies of a family, such as ``host_selection``."""
    return sorted(ExtensionManager(_NAMESPACE + family, invoke_on_load=False).names())
