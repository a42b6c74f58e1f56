"""Create the tables of one project: ``make_databases.py PROJECT CONFIGURATION OPTION...``.

One interpreter runs all commands of a project, because imports are most of the time of a command. Options for keystone:
PASSWORD REGION URL USER GROUP.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

#: Nova fills in values from its own configuration, so the ports may change later.
_CELL0 = "{scheme}://{username}@{hostname}:{port}/nova_cell0?{query}"
_CELL1 = "{scheme}://{username}@{hostname}:{port}/nova?{query}"
_TRANSPORT = "{scheme}://{username}:{password}@{hostname}:{port}/{path}"


def keystone(configuration: str, password: str, region: str, url: str, user: str, group: str) -> None:
    """Create tables, keys, the administrator and Keystone's own entry in its catalogue."""
    cli = importlib.import_module("keystone.cmd.cli")
    owner = ["--keystone-user", user, "--keystone-group", group]
    urls = [word for kind in ("public", "internal", "admin") for word in (f"--bootstrap-{kind}-url", url)]
    for words in (
        ["db_sync"],
        ["fernet_setup", *owner],
        ["credential_setup", *owner],
        ["bootstrap", "--bootstrap-password", password, "--bootstrap-region-id", region, *urls],
    ):
        # It accepts command-line options only if it has not parsed any before.
        cli.CONF.clear()
        cli.main(["keystone-manage", "--config-file", configuration, *words])


def placement(configuration: str) -> None:
    """Create the tables of Placement."""
    sys.argv = ["placement-manage", "--config-file", configuration, "db", "sync"]
    importlib.import_module("placement.cmd.manage").main()


def glance(configuration: str) -> None:
    """Create the tables of Glance."""
    sys.argv = ["glance-manage", "--config-file", configuration, "db_sync"]
    sys.exit(importlib.import_module("glance.cmd.manage").main())


def nova(configuration: str) -> None:
    """Create the tables of Nova's three databases, and its two cells."""
    from nova import config, objects
    from nova.cmd import manage

    config.parse_args(["nova-manage", "--config-file", configuration])
    objects.register_all()
    cells = manage.CellV2Commands()
    commands: tuple[Callable[[], Any], ...] = (
        lambda: manage.ApiDbCommands().sync(),
        lambda: cells.map_cell0(database_connection=_CELL0),
        lambda: manage.DbCommands().sync(),
        lambda: cells.create_cell(name="cell1", database_connection=_CELL1, transport_url=_TRANSPORT),
    )
    for command in commands:
        status = command()
        if status:
            sys.exit(status)


if __name__ == "__main__":
    _make: dict[str, Callable[..., None]] = {
        "keystone": keystone,
        "placement": placement,
        "glance": glance,
        "nova": nova,
    }
    _make[sys.argv[1]](*sys.argv[2:])
