"""Tracking error: how closely received amounts follow wanted ones (Grit 2007, section 4.7.1; shirako F130)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TrackingError:
    """The difference between received and wanted amounts, as means over the steps.

    :ivar rmse: root of the mean squared difference; 0 is perfect
    :ivar above: mean amount that was received beyond what was wanted
    :ivar below: mean amount that was wanted and not received
    """

    rmse: float
    above: float
    below: float

    @classmethod
    def of(cls, wanted: npt.ArrayLike, received: npt.ArrayLike) -> TrackingError:
        """Return the error of two series of the same length, at least 1."""
        errors: FloatArray = np.asarray(received, dtype=np.float64) - np.asarray(wanted, dtype=np.float64)
        return cls(
            float(np.sqrt((errors**2).mean())),
            float(np.maximum(errors, 0).mean()),
            float(np.maximum(-errors, 0).mean()),
        )

    def biased(self, weight_above: float = 0.5) -> float:
        """Return the biased error (formula 4.1).

        :param weight_above: weight of what was received in excess, 0 to 1; what was missing has the rest
        """
        return weight_above * self.above + (1 - weight_above) * self.below
