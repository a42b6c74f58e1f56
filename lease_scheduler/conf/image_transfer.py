"""Group ``image_transfer``: how disk images get to hosts (haizea F41; section deploy-imagetransfer of haizea.conf)."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("image_transfer", title="Transfers of disk images")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "lease_preparation",
        default="unmanaged",
        choices=[
            ("unmanaged", "images are there whoever needs them, or booting brings them"),
            ("imagetransfer", "they are brought from a repository, one transfer at a time, as Sotomayor 2010 plans it"),
        ],
        help="Whether transfers of disk images are planned. In the service: whether the images of managed leases are "
        "brought to the caches of their hosts before they boot, on Nova by pre-caching (compute API 2.81). Only "
        "reservations and deadline leases have theirs brought; all prefer hosts that have them.",
    ),
    cfg.BoolOpt(
        "required",
        default=True,
        help="In simulations: whether a lease waits until its image is there. The service never waits: booting brings "
        "what is missing, and transfers only see to it that there is little to bring.",
    ),
    cfg.FloatOpt(
        "bandwidth",
        default=1000.0,
        min=0.001,
        help="Mb/s of the image repository, as measured; with transfer_mechanism = unicast all hosts share it.",
    ),
    cfg.IntOpt(
        "host_cache_age",
        default=86_400,
        min=1,
        help="Seconds for which a compute host keeps an image that no server on it uses, where transfers are not "
        "required; Nova's [image_cache] remove_unused_original_minimum_age_seconds. Nothing is brought earlier than "
        "so long before it is needed.",
    ),
    cfg.IntOpt(
        "fallback_size",
        default=4096,
        min=1,
        help="MB that an image is thought to have if the image service does not say, in the service only.",
    ),
    cfg.StrOpt(
        "transfer_mechanism",
        choices=[
            ("multicast", "all hosts of a lease get an image at once"),
            ("unicast", "one host after the other"),
        ],
        help="How an image gets to several hosts; none for multicast in simulations and unicast in the service: hosts "
        "of Nova each fetch it for themselves. Say multicast there if the store hands out an image to many hosts as "
        "fast as to one.",
    ),
    cfg.BoolOpt(
        "avoid_redundant_transfers",
        default=True,
        help="A lease may use a transfer that is planned for another one, if that comes in time. Without required "
        "transfers it always does.",
    ),
    cfg.IntOpt("force_imagetransfer_time", min=0, help="Seconds that a transfer takes, in place of size / bandwidth."),
    cfg.StrOpt(
        "diskimage_reuse",
        default="none",
        choices=[
            ("none", "an image is deleted with its lease"),
            ("image-caches", "hosts keep images for later leases, which are put there first"),
        ],
        help="What becomes of an image when its lease is over, with required transfers; without, hosts keep it for "
        "host_cache_age.",
    ),
    cfg.IntOpt(
        "diskimage_cache_size",
        default=-1,
        min=-1,
        help="MB of images that a host keeps with diskimage_reuse = image-caches; -1 is no limit. The experiments of "
        "Sotomayor 2010 had 20480.",
    ),
    cfg.BoolOpt(
        "keep_replanned",
        default=True,
        help="A lease that is planned again finds the images that were brought for its old place. Haizea deleted them.",
    ),
    cfg.BoolOpt(
        "copy_on_write",
        default=False,
        help="The VMs of a host share the image that it keeps; what is written is not counted as disk usage.",
    ),
    cfg.BoolOpt(
        "migrate_disks",
        default=True,
        help="The disk image of a suspended VM moves with its memory when it resumes on another host.",
    ),
]
