"""What a program has loaded stays out of the garbage collection."""

from __future__ import annotations

import gc


def keep_what_is_loaded() -> None:
    """Leave all present objects out of later collections. May be called again when many of them are not needed.

    Otherwise every complete collection looks at all modules of the program, and at all leases and hosts of an engine's
    plan. For a large plan that takes longer than a request, and none of them is garbage. Objects that nothing refers to
    are freed as before.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
