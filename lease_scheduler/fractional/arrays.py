"""Types of the arrays, and their tolerance; a module of its own, because ``problem`` loads a compiler."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

#: By how much a load may exceed the capacity of a node, so that rounding errors do not matter.
TOLERANCE = 1e-9
