"""What policies have learnt: restored from the store, and written with the step in which it was learnt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lease_scheduler.policy.base import Learnt, Policy
from lease_scheduler.records.writes import StoreChanges


class Learning:
    """Keeps what policies have learnt.

    The policies may have served an engine that broke, and learnt what was never written. They are therefore set back to
    what the store has.

    :param policies: policies that may learn, by family
    :param stored: what the store has, by (family, policy name) and subject
    :ivar learnt: what has been learnt, by (family, policy name) and subject
    """

    def __init__(self, policies: Mapping[str, Policy], stored: Mapping[tuple[str, str], Mapping[str, Any]]) -> None:
        self._policies = policies
        self.learnt: dict[tuple[str, str], dict[str, Learnt]] = {key: dict(value) for key, value in stored.items()}
        for family, policy in policies.items():
            policy.restore(self.learnt.get((family, policy.name), {}))

    def write(self, changes: StoreChanges) -> None:
        """Add what policies have learnt since the last call to the changes to write."""
        for family, policy in self._policies.items():
            for subject, learnt in policy.take_changes().items():
                changes.policy_state[family, policy.name, subject] = learnt
                self.learnt.setdefault((family, policy.name), {})[subject] = learnt
