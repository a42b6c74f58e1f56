"""Group ``blazar``: compatibility with Blazar beyond its API."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("blazar", title="Blazar's clients")

OPTIONS: list[cfg.Opt] = [
    cfg.BoolOpt(
        "profile",
        default=False,
        help="Whether leases look in Nova as in Blazar: aggregates and flavors have the id of the reservation, "
        "reserved hosts move from the aggregate of the pool to an availability zone of their own, and all servers "
        "there are deleted at the end. Applies only to leases that are not preemptible.",
    ),
    cfg.StrOpt(
        "before_end",
        default="",
        choices=[
            ("", "nothing; the servers are deleted at the end"),
            ("snapshot", "an image is made of each server on the reserved hosts"),
        ],
        help="Meaning of before_end = default for reservations of hosts (Blazar's option [physical:host] before_end).",
    ),
    cfg.StrOpt(
        "image_prefix",
        default="reserved_",
        help="Prefix of the names of images that are made before the end of a reservation. The name of the server "
        "follows (Blazar's option [nova] image_prefix).",
    ),
    cfg.StrOpt(
        "preemptible_servers",
        default="shelve",
        choices=[("shelve", "they are shelved, and unshelved later"), ("delete", "they are deleted, as in Blazar")],
        help="With the profile: what happens to servers of a preemptible flavor on hosts that are reserved.",
    ),
]
