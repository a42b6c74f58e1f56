"""The interface of admission policies (haizea F35; Sotomayor 2010, section 4.3.1)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from inspect import signature

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.policy.base import Policy


class AdmissionPolicy(Policy):
    """Accepts or refuses requests before any planning.

    :param options: what the operator set for policies
    """

    @abstractmethod
    def refusal(self, request: LeaseRequest, now: int, view: SiteView) -> str | None:
        """Return why a request is refused, naming the field and what would be accepted; None accepts it.

        The engine asks this also for quotes, for counter-offers, and for new terms of a lease, where it asks for the
        old terms as well. So a policy must not learn here: an answer does not mean that a lease was granted.

        :param request: the terms
        :param now: the present instant
        :param view: the site, to be looked at during this call only. A policy that does not need it may leave this
            argument out.
        """


def let_take_view(policy: AdmissionPolicy) -> None:
    """Make a policy whose ``refusal`` takes only the request and the instant accept the site as a third argument."""
    refusal: Callable[..., str | None] = policy.refusal
    try:
        signature(refusal).bind(None, 0, None)
    except TypeError:
        # On the instance and not on the class, because classes that extend it may call the method with two arguments.
        setattr(policy, "refusal", partial(_without_view, refusal))  # noqa: B010 - no type has such a method


def _without_view(refusal: Callable[..., str | None], request: LeaseRequest, now: int, view: SiteView) -> str | None:
    return refusal(request, now)
