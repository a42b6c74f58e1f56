"""Group ``gateway``: one REST interface in front of several sites."""

from __future__ import annotations

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
        "and with which user; the leases of the gateway are in the project of this user. Of sites that are equally "
        "good, the first one is taken. Names of sites must not change while they have leases.",
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
