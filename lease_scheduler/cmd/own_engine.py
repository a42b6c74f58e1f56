"""An engine for one command, where none runs: it leads for as long as the command takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from oslo_config import cfg

from lease_scheduler.cmd.configuration import engine_name
from lease_scheduler.cmd.election import no_engine
from lease_scheduler.cmd.wiring import EngineService
from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.service.site_engine import SiteEngine

#: Real seconds in which it must lead: building a large plan takes its time.
_PATIENCE = 300.0

Methods = dict[str, Callable[..., dict[str, Any]]]


@contextmanager
def own_engine(conf: cfg.ConfigOpts) -> Iterator[Methods]:
    """Lead the site, and give what engines can be asked for.

    :raises EngineUnavailableError: it does not come to lead
    """
    service = EngineService(conf, engine_name())
    service.start()
    try:
        if not service.leadership.is_leading.wait(_PATIENCE):
            raise EngineUnavailableError("this process cannot lead the site; is another engine starting?")
        yield service.methods
    finally:
        service.stop()


@contextmanager
def engine_at_rest(conf: cfg.ConfigOpts) -> Iterator[SiteEngine]:
    """Give an engine that knows everything and does nothing, while no other one can lead.

    :raises EngineLeadsError: another one does
    """
    with no_engine(conf):
        service = EngineService(conf, engine_name())
        try:
            site = service.at_rest()
            try:
                yield site
            finally:
                site.close()
        finally:
            service.end()
