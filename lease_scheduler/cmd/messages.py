"""How programs tell that something is wrong: one line, status 2."""

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
    """Says in one line what is wrong with the command line, as every other error is said."""

    def error(self, message: str) -> NoReturn:
        """End the program with status 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def one_line_errors(main: Callable[_P, _R]) -> Callable[_P, _R]:
    """A program whose errors of ours, and those of the database, become one line and status 2."""

    @functools.wraps(main)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            result = main(*args, **kwargs)
            # Here, where an error can still be told, and not at the exit.
            sys.stdout.flush()
            return result
        except (LeaseSchedulerError, DBError) as error:
            print(f"{Path(sys.argv[0]).name}: {_in_one_line(error)}", file=sys.stderr)
            raise SystemExit(2) from error
        except BrokenPipeError:
            # Whoever reads the output, such as head, has seen enough. What is left is not written at the exit either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(128 + signal.SIGPIPE) from None

    return run


def _in_one_line(error: Exception) -> str:
    if isinstance(error, DBNonExistentTable):
        return "the database has no tables yet; run: lease-scheduler-manage db sync"
    if isinstance(error, DBConnectionError):
        return "the database does not answer; see database.connection"
    return " ".join(str(error).split())
