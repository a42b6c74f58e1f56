"""What operators do with pools: hosts join them, move and leave, and a pool is dissolved."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.commands.programs import path_of, run
from tests.functional.commands.test_processes import Site
from tests.servers.base import wait_until

_LIMIT = 90.0
_POOLS = "[pools]\nnames = general, gpu\n[pool:gpu]\nhosts = compute-[34]\n"


@pytest.fixture
def site(tmp_path: Path, mariadb_url: str, rabbitmq_url: str) -> Iterator[Site]:
    made = Site(tmp_path, mariadb_url, rabbitmq_url, _POOLS)
    yield made
    made.close()


def _rows(table: str) -> list[list[str]]:
    return [line.replace("│", " ").split() for line in table.splitlines() if "│" in line]


def test_pools_of_an_operator(site: Site) -> None:
    """An engine whose configuration lacks a pool with hosts does not lead, until the pool is dissolved."""
    site.manage("db", "sync")
    engine = site.begin_program("engine")
    assert wait_until(lambda: "this engine leads" in site.log("engine"), _LIMIT), site.log("engine")
    site.manage("host", "add", "compute-1", "--pool", "gpu")
    site.manage("pool", "fill")
    assert _rows(site.manage("pool", "list")) == [["general", "1", "0"], ["gpu", "3", "0"]]
    assert site.manage("host", "move", "compute-1", "--pool", "general") == "1 hosts are in pool general now\n"
    assert _rows(site.manage("pool", "list")) == [["general", "2", "0"], ["gpu", "2", "0"]]
    unknown = _refused(site, "host", "move", "compute-1", "--pool", "gpus")
    assert "there is no pool gpus; right is general, gpu" in unknown
    assert "an engine leads the site; stop all engines first" in _refused(site, "pool", "dissolve", "gpu")
    engine.end(signal.SIGTERM, 30)

    site.configuration.write_text(site.configuration.read_text().replace(_POOLS, "[pools]\nnames = general, rack\n"))
    second = site.begin("second", *_engine(site))
    assert wait_until(lambda: "cannot lead" in site.log("second"), _LIMIT), site.log("second")
    log = site.log("second")
    assert "pool gpu is missing, and it has 2 hosts and addresses (compute-3, compute-4)" in log
    assert "lease-scheduler-manage pool dissolve gpu --into general" in log
    second.end(signal.SIGTERM, 30)

    assert _rows(site.manage("pool", "list"))[-1] == ["gpu", "(not", "in", "[pools]", "names)", "2", "0"]
    assert "nowhere is not in [pools] names" in _refused(site, "pool", "dissolve", "gpu", "--into", "nowhere")
    said = site.manage("pool", "dissolve", "gpu", "--into", "rack")
    assert said == "2 hosts and addresses and 0 leases of pool gpu are in pool rack now\n"
    third = site.begin("third", *_engine(site))
    assert wait_until(lambda: "this engine leads" in site.log("third"), _LIMIT), site.log("third")
    assert _rows(site.manage("pool", "list")) == [["general", "2", "0"], ["rack", "2", "0"]]
    third.end(signal.SIGTERM, 30)


def _engine(site: Site) -> list[str]:
    return [path_of("engine"), "--config-file", str(site.configuration)]


def _refused(site: Site, *words: str) -> str:
    ended = run("manage", "--config-file", str(site.configuration), *words, folder=site.folder)
    assert ended.status == 2, ended.output
    return ended.errors
