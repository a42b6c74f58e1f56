"""The base class of queueing policies (Sotomayor 2010, section 4.3; Grit 2007, chapter 5; haizea F46)."""

from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.plan.interfaces import Queueing
from lease_scheduler.policy.base import Policy
from lease_scheduler.policy.queueing.report import FlowReport


class QueueingPolicy(Policy, Queueing):
    """Orders the queue; the method to write is ``Queueing.turns``.

    A policy that shares the site among projects also overrides ``observe``, which tells it of everything that changes a
    share. What it has learnt is forgotten when another policy takes its place, because all flows start level then.

    :param options: what the operator set for policies
    """

    keeps_when_replaced = False

    def flows(self, now: int) -> Sequence[FlowReport]:
        """Return the state of the flows among which it shares the site; most policies have none."""
        return ()
