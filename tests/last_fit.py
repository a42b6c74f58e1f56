"""A scheduler with an error, which comparisons of runs have to find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.interfaces import HostsAt
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy
from lease_scheduler.policy.loader import load_policies
from lease_scheduler.policy.policy_set import PolicySet


class LastFit(HostSelectionPolicy):
    """Takes the last host with room."""

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        return hosts.numbers[np.argsort(-hosts.numbers)]


def inject(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have simulations choose hosts with the error."""

    def load_wrong(names: Mapping[str, str], options: PolicyOptions) -> PolicySet:
        return replace(load_policies(names, options), host_selection=LastFit(options))

    monkeypatch.setattr("lease_scheduler.simulation.site_run.load_policies", load_wrong)
