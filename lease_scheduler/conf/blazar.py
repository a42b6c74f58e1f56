"""Group ``blazar``: what is done for Blazar's clients beside its API."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("blazar", title="Blazar's clients")

OPTIONS: list[cfg.Opt] = [
    cfg.BoolOpt(
        "profile",
        default=False,
        help="Whether leases look in Nova as those of Blazar do: aggregates and flavors have the id of the "
        "reservation, reserved hosts leave the pool's aggregate for an availability zone of their own, and all servers "
        "there are deleted at the end. Only for leases that do not give way to others.",
    ),
    cfg.StrOpt(
        "before_end",
        default="",
        choices=[
            ("", "nothing; the servers are deleted at the end"),
            ("snapshot", "an image is made of each server on the reserved hosts"),
        ],
        help="What before_end = default means for reservations of hosts (Blazar: [physical:host] before_end).",
    ),
    cfg.StrOpt(
        "image_prefix",
        default="reserved_",
        help="What names of images begin with that are made before the end of a reservation, before the name of the "
        "server (Blazar: [nova] image_prefix).",
    ),
    cfg.StrOpt(
        "preemptible_servers",
        default="shelve",
        choices=[("shelve", "they are shelved and come back"), ("delete", "they are deleted, as by Blazar")],
        help="With the profile: what becomes of servers of a preemptible flavor on hosts that are reserved.",
    ),
]
