"""OpenStackClient within the process of the tests, because starting it takes longer than its commands."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import warnings

import pytest

from tests.compat.shell import Outcome, Shell


class InsideShell(Shell):
    """Runs ``openstack`` like ``Shell``, but without a new process.

    :param service: the service to which it sends requests
    """

    def _run(self, program: str, words: tuple[str, ...]) -> Outcome:
        assert program == "openstack"
        root = logging.getLogger()
        handlers, level = list(root.handlers), root.level
        output, errors = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            # The client uses none of it; these are heartbeats of connections that other tests have made.
            patch.setattr(logging.getLogger("oslo.messaging"), "propagate", False)
            for name in [name for name in os.environ if name.startswith("OS_")]:
                patch.delenv(name)
            for name, value in self._environment.items():
                patch.setenv(name, value)
            with (
                contextlib.redirect_stdout(output),
                contextlib.redirect_stderr(errors),
                warnings.catch_warnings(),
            ):
                # It warns about its own libraries, which have nothing to do with us.
                warnings.simplefilter("ignore")
                from openstackclient import shell as openstack
                from openstackclient.common.clientmanager import ClientManager
                from osc_lib.clientmanager import ClientCache

                # A process normally talks to one service only, so OpenStackClient keeps the clients made for it.
                for kept in [each for kind in ClientManager.__mro__ for each in vars(kind).values()]:
                    if isinstance(kept, ClientCache):
                        kept._handle = None
                try:
                    status = openstack.main(list(words)) or 0
                except SystemExit as ended:
                    status = ended.code if isinstance(ended.code, int) else 1
        # Every run adds handlers that write to the captured stream of that run.
        root.handlers[:] = handlers
        root.setLevel(level)
        return Outcome(status, output.getvalue(), errors.getvalue())
