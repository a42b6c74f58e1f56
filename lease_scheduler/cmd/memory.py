"""Exclusion of loaded objects from garbage collection."""

from __future__ import annotations

import gc


def keep_what_is_loaded() -> None:
    """Exclude all present objects from later garbage collections.

    Otherwise every complete collection examines all modules of the program, and all leases and hosts of an engine's
    plan. For a large plan this takes longer than a request, and none of them is garbage. Objects without references are
    freed as before. May be called again when many of the objects are no longer needed.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
