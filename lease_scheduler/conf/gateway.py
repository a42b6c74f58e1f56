"""Group ``gateway``: one REST interface in front of several sites."""

from __future__ import annotations

from collections.abc import Iterable

from oslo_config import cfg, types

GROUP = cfg.OptGroup("gateway", title="A gateway to several sites")

#: Regular expression that names of gateways and members match.
NAME = "[a-z0-9][a-z0-9_-]{0,63}"

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "name",
        default="gateway",
        regex=f"^{NAME}$",
        help="Name of the gateway. A request that has passed a gateway of this name before is refused, so that "
        "gateways which ask each other do not do so for ever. Gateways on the same database have the same name.",
    ),
    cfg.Opt(
        "members",
        type=types.Dict(types.String(max_length=64)),
        default={},
        help="The sites that are asked: name of the site and, after a colon, name of its entry in clouds.yaml, "
        "separated by commas, such as north:compute-north, south:compute-south. The entry says how to reach the site, "
        "and with which user. Of sites that are equally good, the first one is taken. Names of sites must not change "
        "while they have leases.",
    ),
    cfg.StrOpt(
        "projects",
        default="gateway",
        choices=[
            ("gateway", "all leases belong to the project of the gateway's user there"),
            ("own", "to the tenant's own project, which has the same id there: one Keystone with several regions"),
            ("mapped", "to the project that [gateway:<site>] projects names for that of the tenant: separate clouds"),
        ],
        help="To which project a lease belongs at its site. With own and mapped, the gateway must be a peer of each "
        "site that may request leases for these projects (openstack lease peer set --project), and callers must be "
        "authenticated.",
    ),
    cfg.StrOpt(
        "home",
        help="Name of the site that is asked first by the allocation policy home-first. By default the first one.",
    ),
    cfg.StrOpt(
        "mode",
        default="in-turn",
        choices=[
            ("in-turn", "one site after the other; the first one that grants the lease gets it"),
            ("best", "all sites hold it; the best offer is accepted, and the others are given back"),
            ("first", "all sites hold it; the first offer is accepted, and the others are given back"),
        ],
        help="How sites are asked. Sites that cannot hold leases, as they have an older version, are tried after the "
        "others.",
    ),
    cfg.StrOpt(
        "allocation",
        default="home-first",
        help="Policy that puts sites in order, or gives each its share of the requests: home-first, round-robin, lrf, "
        "bcf, pap, earliest, cheapest, least-preemption, or one of another package.",
    ),
    cfg.IntOpt(
        "overflow_wait",
        default=600,
        min=0,
        help="For the allocation policy home-first: seconds that a best-effort lease may wait at home. One that would "
        "wait longer there goes to the site at which it starts first, unless home is as early as all others. With 0, "
        "it overflows whenever home cannot start it at once.",
    ),
    cfg.StrOpt(
        "dispatch",
        default="billiard",
        help="Policy that chooses a site by its share: random, billiard, by-type, or one of another package. Only for "
        "allocation policies that give shares.",
    ),
    cfg.IntOpt(
        "answer_time",
        default=60,
        min=1,
        help="Seconds after which a request is answered, even if no site has granted or refused it by then.",
    ),
    cfg.IntOpt(
        "accept_time",
        default=15,
        min=0,
        help="Part of answer_time, in seconds, that is set aside for the site that is chosen to grant the lease. No "
        "further site is asked in it.",
    ),
    cfg.IntOpt(
        "hold_time",
        default=300,
        min=1,
        help="Seconds for which sites are asked to hold a lease. It must be longer than accept_time and "
        "clock_difference together. Nothing is held for longer, even if the gateway does not come back.",
    ),
    cfg.IntOpt(
        "clock_difference", default=5, min=0, help="Largest difference between the clocks of two machines, in seconds."
    ),
    cfg.IntOpt("poll", default=5, min=1, help="Seconds between two looks at what a site tells of its leases."),
    cfg.IntOpt("calls", default=32, min=1, help="Maximum number of calls to sites at the same time."),
]

#: Prefix of the name of a member's own group.
PREFIX = "gateway:"

_OF_MEMBER: list[cfg.Opt] = [
    cfg.Opt(
        "projects",
        type=types.Dict(types.String(max_length=255, regex=".")),
        default={},
        help="With [gateway] projects = mapped: id of a project at the gateway and, after a colon, id of the project "
        "at this site that its leases belong to, separated by commas. Requests of other projects are not passed on to "
        "the site.",
    ),
]


def groups_of(names: Iterable[str]) -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return the groups of members and their options.

    :param names: names of the members
    """
    return [(cfg.OptGroup(PREFIX + name, title=f"Site {name} of the gateway"), _OF_MEMBER) for name in names]


def sample() -> tuple[cfg.OptGroup, list[cfg.Opt]]:
    """Return an example of the group of a member, for the sample configuration."""
    group = cfg.OptGroup(
        f"{PREFIX}example", title="One site of the gateway", help="Site example, if [gateway] members has it."
    )
    return group, _OF_MEMBER
