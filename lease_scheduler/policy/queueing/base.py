"""The base class of queueing policies (Sotomayor 2010, section 4.3; Grit 2007, chapter 5; haizea F46)."""

from __future__ import annotations

from lease_scheduler.plan.interfaces import Queueing
from lease_scheduler.policy.base import Policy


class QueueingPolicy(Policy, Queueing):
    """Orders the queue; the method to write is ``Queueing.turns``.

    A policy that shares the site among projects also overrides ``observe``, which tells it of everything that changes a
    share.

    :param options: what the operator set for policies
    """
