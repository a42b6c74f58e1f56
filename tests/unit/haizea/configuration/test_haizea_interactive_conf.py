"""haizea.conf with the real clock (haizea F19, F44, F45, F93)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.haizea.configuration.haizea_conf import read_interactive_conf, read_mode
from lease_scheduler.model.errors import InputFileError

_CONF = """[general]
mode: simulated
[scheduling]
suspension: none
[simulation]
{simulation}
imagetransfer-bandwidth: 100
"""


def _write(folder: Path, simulation: str = "resources: 4 CPU:100,Memory:1024", more: str = "") -> Path:
    path = folder / "haizea.conf"
    path.write_text(_CONF.format(simulation=simulation) + more)
    return path


def test_the_defaults_are_those_of_haizea(tmp_path: Path) -> None:
    """Haizea's: the real clock, 60 s and 10 s; neither a trace file nor a simulated start time."""
    path = _write(tmp_path)
    assert read_mode(path) == ("simulated", "real")
    conf = read_interactive_conf(path)
    assert (conf.wakeup_interval, conf.non_schedulable_interval) == (60, 10)
    assert (conf.log_level, conf.log_file, conf.persistence_file) == ("INFO", None, None)
    assert (conf.tracefile, conf.status_message_interval) == (None, None)
    assert conf.site is not None and len(conf.site.hosts) == 4
    assert conf.overrides["scheduling.policy_preemption"] == "no-preemption"
    assert conf.overrides["scheduling.suspend_estimate"] == "sum"


def test_every_option_of_interactive_mode_is_read(tmp_path: Path) -> None:
    text = """[general]
loglevel: VDEBUG
logfile: log
mode: simulated
persistence-file: {folder}/leases
[scheduling]
suspension: none
wakeup-interval: 00:00:30
non-schedulable-interval: 5
[simulation]
clock: real
resources: in-tracefile
imagetransfer-bandwidth: 100
status-message-interval: 3
[tracefile]
tracefile: trace.lwf
"""
    path = tmp_path / "haizea.conf"
    path.write_text(text.format(folder=tmp_path))
    conf = read_interactive_conf(path)
    assert (conf.wakeup_interval, conf.non_schedulable_interval, conf.status_message_interval) == (30, 5, 3)
    assert (conf.log_level, conf.log_file) == ("VDEBUG", tmp_path / "log")
    assert (conf.persistence_file, conf.tracefile) == (tmp_path / "leases", tmp_path / "trace.lwf")
    assert conf.site is None


@pytest.mark.parametrize(
    ("simulation", "more", "message"),
    [
        ("resources: 4", "", "haizea.conf:6: resources: lacks CPU and Memory"),
        ("clock: fast\nresources: 4 CPU:1,Memory:1", "", "must be one of simulated, real, not 'fast'"),
        (
            "resources: 4 CPU:100,Memory:1024",
            "[tracefile]\nadd-overhead: some\n",
            "add-overhead must be one of none, besteffort, all",
        ),
    ],
)
def test_wrong_files_are_refused(simulation: str, more: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputFileError) as caught:
        read_interactive_conf(_write(tmp_path, simulation, more))
    assert message.partition(" ")[2] in str(caught.value)


@pytest.mark.parametrize("word", ["exit", "exit-raise"])
def test_lease_failure_handling_must_be_cancel(word: str, tmp_path: Path) -> None:
    path = _write(tmp_path)
    path.write_text(path.read_text().replace("mode:", f"lease-failure-handling: {word}\nmode:"))
    with pytest.raises(InputFileError, match="ends alone; take cancel"):
        read_interactive_conf(path)


def test_a_file_without_a_mode_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "haizea.conf"
    path.write_text("[general]\nloglevel: INFO\n")
    with pytest.raises(InputFileError, match="lacks the option 'mode'"):
        read_mode(path)
