"""An engine for one command, if no other engine runs. It leads while the command runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from oslo_config import cfg

from lease_scheduler.cmd.configuration import engine_name
from lease_scheduler.cmd.election import no_engine
from lease_scheduler.cmd.wiring import engine_service
from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.rpc.interface import Methods
from lease_scheduler.service.site_engine import SiteEngine

#: Maximum real seconds until it leads; building a large plan can take minutes.
_PATIENCE = 300.0


@contextmanager
def own_engine(conf: cfg.ConfigOpts) -> Iterator[Methods]:
    """Lead the site within the block, and yield the methods of the engine.

    :raises EngineUnavailableError: this process cannot lead the site in time
    """
    service = engine_service(conf, engine_name())
    service.start()
    try:
        if not service.leadership.is_leading.wait(_PATIENCE):
            raise EngineUnavailableError("this process cannot lead the site; is another engine starting?")
        yield service.methods
    finally:
        service.stop()


@contextmanager
def engine_at_rest(conf: cfg.ConfigOpts) -> Iterator[SiteEngine]:
    """Yield an engine that has read the site but carries out nothing. No other engine can lead within the block.

    :raises EngineLeadsError: another engine leads
    """
    with no_engine(conf):
        service = engine_service(conf, engine_name())
        try:
            engine = service.at_rest()
            try:
                yield engine
            finally:
                engine.close()
        finally:
            service.end()
