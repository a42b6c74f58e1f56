"""How programs tell that something is wrong: one line, status 2."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from lease_scheduler.model.errors import LeaseSchedulerError

_P = ParamSpec("_P")
_R = TypeVar("_R")


def one_line_errors(main: Callable[_P, _R]) -> Callable[_P, _R]:
    """A program whose errors of ours become one line and status 2."""

    @functools.wraps(main)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return main(*args, **kwargs)
        except LeaseSchedulerError as error:
            print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
            raise SystemExit(2) from error

    return run
