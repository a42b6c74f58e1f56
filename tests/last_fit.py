"""A scheduler with an error, which comparisons of runs have to find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.availability import IntArray
from lease_scheduler.plan.interfaces import HostsAt
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy
from lease_scheduler.policy.loader import load_policy


class LastFit(HostSelectionPolicy):
    """Takes the last host with room."""

    def rank(self, hosts: HostsAt, lease: LeaseRequest) -> IntArray:
        return hosts.numbers[np.argsort(-hosts.numbers)]


def inject(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have simulations choose hosts with the error."""

    def load_wrong(family: str, name: str, options: PolicyOptions) -> Any:
        return LastFit(options) if family == "host_selection" else load_policy(family, name, options)

    monkeypatch.setattr("lease_scheduler.simulation.site_run.load_policy", load_wrong)
