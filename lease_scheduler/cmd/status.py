"""``lease-scheduler-status``: check whether everything is ready for this version."""

from __future__ import annotations

import sys
from typing import Any

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.clouds.loader import configured_cloud
from lease_scheduler.cmd.wiring import database
from lease_scheduler.conf import opts
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.store.sql import migrate

_Code = upgradecheck.Code


class _Checks(upgradecheck.UpgradeCommands):
    """The upgrade checks."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf

    def _tables(self) -> Any:
        """Check that the tables are at the revision that this version needs."""
        try:
            found = migrate.current(database(self._conf))
        except Exception as error:
            return upgradecheck.Result(_Code.FAILURE, f"the database cannot be read: {error}")
        if found == migrate.newest():
            return upgradecheck.Result(_Code.SUCCESS)
        return upgradecheck.Result(
            _Code.FAILURE,
            f"the tables are at revision {found}, {migrate.newest()} is needed: lease-scheduler-manage db sync",
        )

    def _options(self) -> Any:
        """Check that the options are valid and do not contradict each other."""
        try:
            configuration.check(self._conf)
        except (cfg.Error, InvalidValueError, ValueError) as error:
            return upgradecheck.Result(_Code.FAILURE, str(error))
        return upgradecheck.Result(_Code.SUCCESS)

    def _cloud(self) -> Any:
        """Check that the cloud is not simulated, and is set up as this version needs it."""
        try:
            cloud = configured_cloud(self._conf)
        except InvalidValueError as error:
            return upgradecheck.Result(_Code.FAILURE, str(error))
        if cloud.simulated is not None:
            return upgradecheck.Result(_Code.WARNING, cloud.simulated)
        try:
            warning = cloud.upgrade_warning()
        except Exception as error:
            return upgradecheck.Result(_Code.WARNING, f"the cloud could not be examined: {error}")
        return upgradecheck.Result(_Code.SUCCESS if warning is None else _Code.WARNING, warning)

    _upgrade_checks = (("Tables", _tables), ("Options", _options), ("Cloud", _cloud))


def main() -> int:
    """Run the checks, and return 0 for success, 1 for warnings, 2 for failures."""
    conf = cfg.ConfigOpts()
    opts.register(conf)
    from oslo_db import options as database_options

    conf.register_opts(database_options.database_opts, group="database")
    try:
        return int(upgradecheck.main(conf, configuration.PROJECT, _Checks(conf), argv=sys.argv[1:]))
    except cfg.Error as error:
        print(f"lease-scheduler-status: {error}", file=sys.stderr)
        return 2
