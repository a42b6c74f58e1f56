"""What policies have learnt, restored from the store, and written with the step in which they learn it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lease_scheduler.engine.pools.engines import PoolName
from lease_scheduler.policy.base import Learnt, Policy
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.flow_weights import STORED
from lease_scheduler.service.core.restoring import PoolParts


def by_pool_and_family(policies: Mapping[PoolName, PolicySet]) -> dict[tuple[str, str], Policy]:
    """Return the policies of pools by pool and family. The pool is an empty text if the site has only one."""
    return {
        (pool or "", family): policy
        for pool, of_pool in policies.items()
        for family, policy in of_pool.by_family().items()
    }


def learners(parts: Mapping[PoolName, PoolParts]) -> dict[tuple[str, str], Policy]:
    """Return the policies and the forecasts of all pools, which both learn, by pool and family."""
    forecasts: dict[tuple[str, str], Policy] = {
        (pool or "", "forecasts"): each.forecasts for pool, each in parts.items()
    }
    return by_pool_and_family({pool: each.policies for pool, each in parts.items()}) | forecasts


class Learning:
    """What policies have learnt, in memory and as changes to write.

    Policies that served an engine that broke may have learnt something that was never written. So they are reset to
    what the store has.

    :param policies: policies that may learn, by pool and family; the pool is an empty text if the site has only one
    :param stored: what the store has, by (pool, family, policy name) and subject
    :ivar learnt: what has been learnt, by (pool, family, policy name) and subject
    """

    def __init__(
        self,
        policies: Mapping[tuple[str, str], Policy],
        stored: Mapping[tuple[str, str, str], Mapping[str, Any]],
    ) -> None:
        self._policies = policies
        self.learnt: dict[tuple[str, str, str], dict[str, Learnt]] = {key: dict(value) for key, value in stored.items()}
        self._forgotten: list[tuple[str, str, str, str]] = []
        self._forget_replaced()
        for (pool, family), policy in policies.items():
            policy.restore(self.learnt.get((pool, family, policy.name), {}))

    def write(self, changes: StoreChanges) -> None:
        """Add what policies have learnt and forgotten since the last call to the changes to write."""
        for key in self._forgotten:
            changes.policy_state[key] = None
        self._forgotten.clear()
        for (pool, family), policy in self._policies.items():
            kept = self.learnt.setdefault((pool, family, policy.name), {})
            for subject, learnt in policy.take_changes().items():
                changes.policy_state[pool, family, policy.name, subject] = learnt
                if learnt is None:
                    kept.pop(subject, None)
                else:
                    kept[subject] = learnt

    def replace(self, policies: Mapping[tuple[str, str], Policy]) -> None:
        """Replace policies. Each new one continues with what a policy of the same family and name has learnt."""
        for (pool, family), policy in policies.items():
            policy.restore(self.learnt.get((pool, family, policy.name), {}))
        self._policies = {**self._policies, **policies}
        self._forget_replaced()

    def _forget_replaced(self) -> None:
        """Forget what policies out of use have learnt, in families that do not keep it (``keeps_when_replaced``)."""
        for pool, family, name in list(self.learnt):
            policy = self._policies.get((pool, family))
            if policy is None or (family, name) == STORED or policy.keeps_when_replaced or policy.name == name:
                continue
            self._forgotten.extend((pool, family, name, subject) for subject in self.learnt.pop((pool, family, name)))
