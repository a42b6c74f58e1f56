"""Group ``approval``: leases that start only after their approval."""

from __future__ import annotations

from oslo_config import cfg, types

from lease_scheduler.model.kinds import LeaseKind

GROUP = cfg.OptGroup("approval", title="Approval of leases")

OPTIONS: list[cfg.Opt] = [
    cfg.ListOpt(
        "kinds",
        item_type=types.String(choices=[kind.value for kind in LeaseKind]),
        default=[],
        mutable=True,
        help="Kinds of lease that may need approval: reservation, deadline, immediate, best-effort. If the list is "
        "empty, no lease needs it. A lease that needs it is held until somebody approves or declines it. Immediate and "
        "best-effort leases cannot wait for that, so those that would need approval are refused.",
    ),
    cfg.IntOpt(
        "node_hours",
        default=-1,
        min=-1,
        max=2**31 - 1,
        mutable=True,
        help="A lease needs approval if it is for more than this many nodes times hours, together with the other live "
        "leases of its project that were not approved; -1 for no such threshold. Without this, resource_hours and "
        "lead_time, every lease of the kinds needs approval.",
    ),
    cfg.Opt(
        "resource_hours",
        type=types.Dict(types.Integer(min=0, max=2**31 - 1)),
        default={},
        mutable=True,
        help="The same for resource classes, amount times hours, such as VCPU:5000,VGPU:100. A lease of whole hosts "
        "counts with the largest host of the site.",
    ),
    cfg.IntOpt(
        "lead_time",
        default=-1,
        min=-1,
        max=2**31 - 1,
        mutable=True,
        help="A lease needs approval if it starts more than this many seconds from now; -1 for no such threshold.",
    ),
    cfg.IntOpt(
        "hold_time",
        default=3 * 86_400,
        min=60,
        max=2**31 - 1,
        mutable=True,
        help="Seconds for which a lease keeps its hosts until somebody decides on it, or fewer if it starts earlier. "
        "After that it is over.",
    ),
    cfg.IntOpt(
        "max_waiting",
        default=10,
        min=-1,
        max=2**31 - 1,
        mutable=True,
        help="Maximum number of leases of a project that await approval at the same time; -1 for no bound.",
    ),
    cfg.ListOpt("exempt_project_ids", default=[], mutable=True, help="Ids of projects whose leases need no approval."),
    cfg.ListOpt(
        "mail_to",
        default=[],
        mutable=True,
        help="Mail addresses of those who decide, who are told of each lease that awaits approval. Needs the driver "
        "mail in [tenant_notifications] enabled_drivers, whose mail server and templates are used.",
    ),
]
