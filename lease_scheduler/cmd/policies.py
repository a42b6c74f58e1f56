"""The configured policies."""

from __future__ import annotations

from oslo_config import cfg

from lease_scheduler.conf.values import policy_names, policy_options
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policies
from lease_scheduler.policy.policy_set import PolicySet


def configured_policies(conf: cfg.ConfigOpts) -> PolicySet:
    """Return new policies by the present configuration, which have learnt nothing yet.

    :raises InvalidValueError: a policy does not exist, one of its options is wrong, or it is for simulations only
    """
    found = load_policies(policy_names(conf), PolicyOptions(policy_options(conf)))
    if found.pricing.needs_users_rates:
        raise InvalidValueError(
            "scheduling.policy_pricing",
            f"{found.pricing.name} has to know what users would pay at most, which is known in simulations only; take "
            "another policy",
        )
    return found
