"""Group ``image_transfer``: how disk images get to hosts (haizea F41; section deploy-imagetransfer of haizea.conf)."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("image_transfer", title="Transfers of disk images")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "lease_preparation",
        default="unmanaged",
        choices=[
            ("unmanaged", "images are present on all hosts, or booting fetches them"),
            (
                "imagetransfer",
                "images are transferred from a repository, one at a time, as in Sotomayor 2010, chapter 6",
            ),
        ],
        help="Whether transfers of disk images are planned. In the service: whether the images of managed leases are "
        "brought to the caches of their hosts before the servers boot; on Nova this is pre-caching (compute API "
        "2.81). Images are transferred only for reservations and deadline leases. Leases of all kinds prefer hosts "
        "that have their image.",
    ),
    cfg.BoolOpt(
        "required",
        default=True,
        help="In simulations: whether a lease waits until its image has arrived. The service never waits: a boot "
        "fetches the image if it is missing, and transfers only make this rare.",
    ),
    cfg.FloatOpt(
        "bandwidth",
        default=1000.0,
        min=0.001,
        help="Measured bandwidth of the image repository in Mb/s. With transfer_mechanism = unicast, all hosts share "
        "it.",
    ),
    cfg.IntOpt(
        "host_cache_age",
        default=86_400,
        min=1,
        help="Seconds for which a compute host keeps an image that no server on it uses, if transfers are not "
        "required. Set it to the value of Nova's [image_cache] remove_unused_original_minimum_age_seconds. An image "
        "is brought at most this number of seconds before it is needed.",
    ),
    cfg.IntOpt(
        "fallback_size",
        default=4096,
        min=1,
        help="Size in MB that is assumed for an image if the image service does not report one. In the service only.",
    ),
    cfg.StrOpt(
        "transfer_mechanism",
        choices=[
            ("multicast", "all hosts of a lease get an image at once"),
            ("unicast", "one host after the other"),
        ],
        help="How an image gets to several hosts. Defaults to multicast in simulations, and to unicast in the "
        "service, because each of Nova's hosts fetches the image itself. Set multicast in the service if the image "
        "store serves many hosts as fast as one.",
    ),
    cfg.BoolOpt(
        "avoid_redundant_transfers",
        default=True,
        help="Whether a lease may use a transfer that is planned for another lease, if that arrives in time. If "
        "transfers are not required, it always may.",
    ),
    cfg.IntOpt("force_imagetransfer_time", min=0, help="Seconds that a transfer takes, instead of size / bandwidth."),
    cfg.StrOpt(
        "diskimage_reuse",
        default="none",
        choices=[
            ("none", "an image is deleted with its lease"),
            ("image-caches", "hosts keep images for later leases, and such leases prefer these hosts"),
        ],
        help="With required transfers: what happens to an image when its lease is over. Otherwise hosts keep it for "
        "host_cache_age seconds.",
    ),
    cfg.IntOpt(
        "diskimage_cache_size",
        default=-1,
        min=-1,
        help="Maximum size of the images that a host keeps with diskimage_reuse = image-caches, in MB; -1 for no "
        "limit. The experiments of Sotomayor 2010 use 20480.",
    ),
    cfg.BoolOpt(
        "keep_replanned",
        default=True,
        help="Whether a lease that is planned again can use images that were brought for its previous place. Haizea "
        "deleted them.",
    ),
    cfg.BoolOpt(
        "copy_on_write",
        default=False,
        help="Whether the VMs of a host share the image that the host keeps. What they write is not counted as disk "
        "usage.",
    ),
    cfg.BoolOpt(
        "migrate_disks",
        default=True,
        help="Whether the disk image of a suspended VM moves with its memory if the VM resumes on another host.",
    ),
]
