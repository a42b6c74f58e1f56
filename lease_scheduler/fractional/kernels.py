"""Inner loops: compiled with numba where it is installed (extra ``fast``), plain Python where it is not.

Both ways run the same source, so both give the same results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])

try:
    import numba
except ImportError:
    #: Whether inner loops are compiled.
    IS_COMPILED = False
else:
    IS_COMPILED = True


def compiled(function: _Function) -> _Function:
    """Compile a function of arrays and numbers at its first call, if numba is installed."""
    if not IS_COMPILED:
        return function
    try:
        return cast(_Function, numba.njit(cache=True)(function))
    except RuntimeError:
        # No folder for compiled code is writable, as may be for a service: compile anew in each process.
        return cast(_Function, numba.njit(function))
