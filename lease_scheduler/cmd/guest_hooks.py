"""What Slurm calls for nodes in the state CLOUD: ``ResumeProgram``, ``SuspendProgram`` and ``ResumeFailProgram``.

They write to the database of the guest, and need neither the guest nor the site: so no node is lost if one of them does
not run.
"""

from __future__ import annotations

import sys
from pathlib import Path

from oslo_config import cfg

from lease_scheduler.cmd.guest_configuration import read
from lease_scheduler.guest.errors import GuestError, WrongSettingError
from lease_scheduler.guest.records import Records, Verb
from lease_scheduler.guest.slurm.reading import expanded


def resume() -> None:
    """Run ``lease-scheduler-guest-resume``."""
    _tell(Verb.RESUME)


def suspend() -> None:
    """Run ``lease-scheduler-guest-suspend``."""
    _tell(Verb.SUSPEND)


def resume_failed() -> None:
    """Run ``lease-scheduler-guest-resume-failed``."""
    _tell(Verb.RESUME_FAILED)


def _tell(verb: Verb) -> None:
    program = f"lease-scheduler-guest-{verb.value}"
    conf = cfg.ConfigOpts()
    conf.register_cli_opt(
        cfg.StrOpt("nodes", positional=True, required=True, help="Nodes as Slurm names them: c[1-3],c7.")
    )
    try:
        read(sys.argv[1:], conf)
        records = Records(Path(conf.guest.database))
        try:
            records.tell(verb, _names(conf.nodes))
        finally:
            records.close()
    except (cfg.Error, GuestError, ValueError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        raise SystemExit(2) from error


def _names(nodes: str) -> list[str]:
    try:
        return expanded(nodes)
    except ValueError as error:
        raise WrongSettingError("nodes", f"{error}; name them as Slurm does: c[1-3],c7") from error
