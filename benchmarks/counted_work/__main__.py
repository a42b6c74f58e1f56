"""Compare counted work with the committed ranges: ``python -m benchmarks.counted_work [--update]``."""

from __future__ import annotations

import sys

from benchmarks.counted_work import routing, service_day, simulated_run
from benchmarks.counted_work.check import main

_SCENARIOS = {"simulated run": simulated_run.count, "service day": service_day.count, "routing": routing.count}

sys.exit(main(sys.argv[1:], _SCENARIOS))
