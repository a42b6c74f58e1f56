"""Our ``LeaseFilter`` and ``LeaseWeigher``, loaded without Nova.

They are classes of a nova-scheduler, and import a few names of Nova. Here they get stand-ins for these names, so that a
rehearsal runs the code that the operator's nova-scheduler runs.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

_OURS = ("lease_scheduler.nova.lease_filter", "lease_scheduler.nova.lease_weigher")


class _Configuration:
    """Nova's configuration, as far as our plug-ins read it: one group of options.

    :param said: option -> value; others have their defaults
    """

    def __init__(self, said: Mapping[str, object]) -> None:
        self._said = said
        self._groups: dict[str, SimpleNamespace] = {}

    def register_opts(self, known: Iterable[Any], group: str) -> None:
        self._groups[group] = SimpleNamespace(**{each.dest: self._said.get(each.dest, each.default) for each in known})

    def __getitem__(self, group: str) -> SimpleNamespace:
        return self._groups[group]


class _Filter:
    """Stands for ``nova.scheduler.filters.BaseHostFilter``."""


class _Weigher:
    """Stands for ``nova.scheduler.weights.BaseHostWeigher``."""


def is_rebuild(spec: Any) -> bool:
    """Return whether a server is to be rebuilt on its host, as ``nova.scheduler.utils`` does."""
    return bool((spec.scheduler_hints or {}).get("_nova_check_type") == ["rebuild"])


def weight_multiplier(host_state: Any, name: str, default: float) -> float:
    """Return the multiplier of a weigher for a host, as ``nova.scheduler.utils`` does."""
    said = [each.metadata[name] for each in host_state.aggregates if name in each.metadata]
    try:
        return min(map(float, said), default=default)
    except ValueError:
        return default


def load(said: Mapping[str, object], time: Callable[[], float]) -> tuple[Any, Any]:
    """Return our filter and our weigher.

    :param said: values of their options
    :param time: returns the seconds since the epoch. The model chooses hosts outside of all simulated threads, where
        Python's own clock is that of the machine
    """
    with _stand_ins(_Configuration(said)):
        lease_filter, lease_weigher = (importlib.import_module(name) for name in _OURS)
        for module in (lease_filter, lease_weigher):
            vars(module)["time"] = SimpleNamespace(time=time)
        return lease_filter.LeaseFilter(), lease_weigher.LeaseWeigher()


@contextmanager
def _stand_ins(configuration: _Configuration) -> Iterator[None]:
    """Within the block, our plug-ins are imported anew, with stand-ins for Nova."""
    utils = {"request_is_rebuild": is_rebuild, "get_weight_multiplier": weight_multiplier}
    made = {
        "nova.conf": _module("nova.conf", CONF=configuration),
        "nova.scheduler.filters": _module("nova.scheduler.filters", BaseHostFilter=_Filter),
        "nova.scheduler.weights": _module("nova.scheduler.weights", BaseHostWeigher=_Weigher),
        "nova.scheduler.utils": _module("nova.scheduler.utils", **utils),
    }
    parts = {name.rpartition(".")[2]: module for name, module in made.items()}
    made["nova.scheduler"] = _module(
        "nova.scheduler", **{name: parts[name] for name in ("filters", "weights", "utils")}
    )
    made["nova"] = _module("nova", conf=made["nova.conf"], scheduler=made["nova.scheduler"])
    names = (*made, *_OURS)
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.modules.update(made)
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def _module(name: str, **contents: object) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(contents)
    return made
