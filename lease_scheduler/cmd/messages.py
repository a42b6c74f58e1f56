"""Error messages of programs: one line, with exit status 2."""

from __future__ import annotations

import argparse
import functools
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, ParamSpec, TypeVar

from oslo_db.exception import DBConnectionError, DBError, DBNonExistentTable

from lease_scheduler.model.errors import LeaseSchedulerError

_P = ParamSpec("_P")
_R = TypeVar("_R")


class OneLineParser(argparse.ArgumentParser):
    """A parser that reports errors of the command line in one line, as programs report all others."""

    def error(self, message: str) -> NoReturn:
        """End the program with status 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def one_line_errors(main: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a program report the errors of this project and of the database in one line, with status 2."""

    @functools.wraps(main)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            result = main(*args, **kwargs)
            # Flushed here, because an error at the exit could not be reported.
            sys.stdout.flush()
            return result
        except (LeaseSchedulerError, DBError) as error:
            print(f"{Path(sys.argv[0]).name}: {_in_one_line(error)}", file=sys.stderr)
            raise SystemExit(2) from error
        except BrokenPipeError:
            # The reader of the output, such as head, has ended. Without this, the exit would try to write the rest.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(128 + signal.SIGPIPE) from None

    return run


def _in_one_line(error: Exception) -> str:
    if isinstance(error, DBNonExistentTable):
        return "the database has no tables yet; run: lease-scheduler-manage db sync"
    if isinstance(error, DBConnectionError):
        return "the database does not answer; see database.connection"
    return " ".join(str(error).split())
