"""The configured policies, each of which can be replaced while an engine uses it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from oslo_config import cfg

from lease_scheduler.conf.values import policy_options
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.assurance.base import AssurancePolicy
from lease_scheduler.policy.base import Learnt, Policy, PolicyOptions
from lease_scheduler.policy.duration.base import DurationPolicy
from lease_scheduler.policy.fractional.base import FractionalPolicy
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy
from lease_scheduler.policy.loader import FAMILIES, load_policy
from lease_scheduler.policy.mapper.base import MapperPolicy
from lease_scheduler.policy.penalty.base import PenaltyPolicy
from lease_scheduler.policy.power.base import PowerPolicy
from lease_scheduler.policy.preemption.base import PreemptionPolicy
from lease_scheduler.policy.pricing.base import PricingPolicy
from lease_scheduler.policy.queueing.base import QueueingPolicy
from lease_scheduler.policy.relocation.base import RelocationPolicy


class Replaceable:
    """A proxy of a value that may be replaced, so that its users always see the present value.

    :param value: the first value
    """

    def __init__(self, value: Any) -> None:
        self._value = value

    def __getattr__(self, name: str) -> Any:
        if name == "_value":
            # The attribute is not set yet, as while a copy is being made.
            raise AttributeError(name)
        return getattr(self._value, name)

    def put(self, value: Any) -> None:
        """Replace the value."""
        self._value = value


class Policies:
    """The policies of an engine.

    :param conf: the configuration; read again at each ``replace``
    :raises InvalidValueError: a policy does not exist, or one of its options is wrong
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf
        self._places = {kind: Replaceable(policy) for kind, policy in load_policies(conf).items()}

    @property
    def admission(self) -> AdmissionPolicy:
        """The policy that decides which requests are planned at all."""
        return cast(AdmissionPolicy, self._places["admission"])

    @property
    def preemption(self) -> PreemptionPolicy:
        """The policy that decides which leases may be preempted for a request."""
        return cast(PreemptionPolicy, self._places["preemption"])

    @property
    def host_selection(self) -> HostSelectionPolicy:
        """The policy that decides in which order hosts are filled."""
        return cast(HostSelectionPolicy, self._places["host_selection"])

    @property
    def mapper(self) -> MapperPolicy:
        """The policy that distributes nodes over hosts."""
        return cast(MapperPolicy, self._places["mapper"])

    @property
    def queueing(self) -> QueueingPolicy:
        """The policy that decides in which order queued leases get places."""
        return cast(QueueingPolicy, self._places["queueing"])

    @property
    def duration(self) -> DurationPolicy:
        """The policy that decides for how long leases are expected to run."""
        return cast(DurationPolicy, self._places["duration"])

    @property
    def penalty(self) -> PenaltyPolicy:
        """The policy that computes what the provider owes for breaches."""
        return cast(PenaltyPolicy, self._places["penalty"])

    @property
    def power(self) -> PowerPolicy:
        """The policy that decides how many hosts sleep."""
        return cast(PowerPolicy, self._places["power"])

    @property
    def relocation(self) -> RelocationPolicy:
        """The policy that decides which running leases move to other hosts."""
        return cast(RelocationPolicy, self._places["relocation"])

    @property
    def fractional(self) -> FractionalPolicy:
        """The policy that decides how fluid leases share CPU."""
        return cast(FractionalPolicy, self._places["fractional"])

    @property
    def assurance(self) -> AssurancePolicy:
        """The policy that decides for how long leases are promised to run."""
        return cast(AssurancePolicy, self._places["assurance"])

    def make_pricing(self) -> PricingPolicy:
        """Return a pricing policy that has learnt nothing yet; ``replace`` replaces the latest one with the others."""
        place = self._places["pricing"]
        place.put(load_policies(self._conf)["pricing"])
        return cast(PricingPolicy, place)

    def replace(self, learnt: Mapping[tuple[str, str], Mapping[str, Learnt]]) -> None:
        """Replace all policies by those that are configured now.

        :param learnt: what policies have learnt, by (family, name); the new ones continue with it
        :raises InvalidValueError: as for the class; then all policies stay as they are
        """
        new = load_policies(self._conf)
        for family, policy in new.items():
            policy.restore(learnt.get((family, policy.name), {}))
        for family, policy in new.items():
            self._places[family].put(policy)


def load_policies(conf: cfg.ConfigOpts) -> dict[str, Policy]:
    """Return a new policy of each family, as configured.

    :raises InvalidValueError: a policy does not exist, one of its options is wrong, or it is for simulations only
    """
    options = PolicyOptions(policy_options(conf))
    found = {family: load_policy(family, conf.scheduling[f"policy_{family}"], options) for family in FAMILIES}
    pricing = cast(PricingPolicy, found["pricing"])
    if pricing.needs_users_rates:
        raise InvalidValueError(
            "scheduling.policy_pricing",
            f"{pricing.name} has to know what users would pay at most, which is known in simulations only; take another"
            " policy",
        )
    return found
