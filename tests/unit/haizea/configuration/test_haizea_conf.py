"""haizea.conf translated into our options (haizea F41, section 9.1)."""

from pathlib import Path

import pytest

from lease_scheduler.haizea.configuration.haizea_conf import HaizeaConf, read_haizea_conf
from lease_scheduler.haizea.configuration.options import OPTIONS
from lease_scheduler.model.errors import InputFileError
from lease_scheduler.model.host import Site
from lease_scheduler.model.resources import Resources
from lease_scheduler.simulation.overheads import OverheadOptions

MINIMAL = """\
[general]
mode: simulated

[scheduling]
suspension: none

[simulation]
clock: simulated
starttime: 2006-11-25 13:00:00
resources: in-tracefile
imagetransfer-bandwidth: 100

[accounting]

[tracefile]
tracefile: trace.lwf
"""

FULL = """\
# everything that the file knows
[general]
loglevel: VDEBUG
logfile: /logs/haizea.log
mode = simulated
lease-preparation: imagetransfer
lease-failure-handling: exit-raise
persistence-file: none
[scheduling]
mapper: deadline
policy-admission: no-ARs
policy-preemption: ar-preempts-everything
policy-host-selection: no-policy
policy-pricing: adaptive
wakeup-interval: 30
backfilling: intermediate ; some more
backfilling-reservations: 4
suspension: all
suspend-rate: 32
resume-rate: 12.5
suspendresume-exclusion: global
scheduling-threshold-factor: 2
force-scheduling-threshold: 00:01:30
override-suspend-time: 0
override-resume-time: 5
migration: yes-notransfer
non-schedulable-interval: 20
shutdown-time: 3
enactment-overhead: 2
[simulation]
clock: simulated
starttime: 2006-11-25T13:00:00+01:00
resources: 4  CPU:100 Memory:1024
imagetransfer-bandwidth: 100
stop-when: exact
stop-when-time: 01:00:00:00
status-message-interval: 15
sanity-check: yes
[accounting]
datafile: results.dat
probes: ar best-effort immediate cpu-utilization
attributes: profile=a,trace=b
[deploy-imagetransfer]
transfer-mechanism: multicast
avoid-redundant-transfers: True
force-imagetransfer-time: 10
diskimage-reuse: image-caches
diskimage-cache-size: -1
[tracefile]
tracefile: trace.lwf
annotationfile: trace.lwfa
injectionfile: reservations.lwf
runtime-slowdown-overhead: 5
add-overhead: besteffort
bootshutdown-overhead: 20
override-memory: 896
[opennebula]
host: localhost
port: 2633
stop-when-no-more-leases: no
dry-run: no
[pricing]
rate: 1.0
seed: 3
min-rate: 0.1
max-rate: 10
"""


def _read(tmp_path: Path, text: str) -> HaizeaConf:
    path = tmp_path / "haizea.conf"
    path.write_text(text)
    return read_haizea_conf(path)


def test_the_defaults_of_haizea_are_written_out(tmp_path: Path) -> None:
    conf = _read(tmp_path, MINIMAL)
    assert conf.overrides == {
        "scheduling.deadline_placement": "greedy",
        "scheduling.room_lead": "lose",
        "scheduling.policy_admission": "accept-all",
        "scheduling.policy_preemption": "no-preemption",
        "scheduling.policy_host_selection": "greedy",
        "scheduling.policy_pricing": "free",
        "scheduling.backfilling": "off",
        "scheduling.suspension": "none",
        "scheduling.suspend_resume_exclusion": "local",
        "scheduling.scheduling_threshold_factor": "1",
        "scheduling.migration": "no",
        "scheduling.migration_bandwidth": "100",
        "scheduling.shutdown_time": "0",
        "scheduling.enactment_overhead": "0",
        "scheduling.preempt_at": "request",
        "scheduling.suspend_estimate": "sum",
        "simulation.stop_when": "all-leases-done",
        "simulation.check_invariants": "false",
        "simulation.failure_handling": "cancel",
        "simulation.runtime_slowdown_percent": "0",
        "simulation.add_overhead": "none",
        "simulation.boot_shutdown_overhead": "0",
        "simulation.override_memory": "-1",
        "image_transfer.lease_preparation": "unmanaged",
        "image_transfer.bandwidth": "100",
        "image_transfer.keep_replanned": "false",
        "image_transfer.avoid_redundant_transfers": "true",
        "image_transfer.diskimage_reuse": "none",
    }
    assert (conf.tracefile, conf.annotationfile, conf.injectionfile) == (tmp_path / "trace.lwf", None, None)
    assert (conf.site, conf.start_time, conf.stop_when, conf.stop_when_time) == (
        None,
        1_164_459_600,
        "all-leases-done",
        None,
    )
    assert (conf.overheads, conf.image_transfer_bandwidth) == (OverheadOptions(), 100.0)
    assert (conf.lease_preparation, conf.log_level, conf.log_file) == ("unmanaged", "INFO", None)
    assert (conf.persistence_file, conf.status_message_interval, conf.data_file) == (None, None, None)
    assert conf.later == {}


def test_every_option_is_honoured(tmp_path: Path) -> None:
    conf = _read(tmp_path, FULL)
    assert conf.overrides == {
        "scheduling.deadline_placement": "deadline",
        "scheduling.room_lead": "lose",
        "scheduling.policy_admission": "no-ARs",
        "scheduling.policy_preemption": "ar-preempts-everything",
        "scheduling.policy_host_selection": "no-policy",
        "scheduling.policy_pricing": "adaptive",
        "scheduling.backfilling": "intermediate",
        "scheduling.backfilling_reservations": "4",
        "scheduling.suspension": "all",
        "scheduling.suspend_rate": "32",
        "scheduling.resume_rate": "12.5",
        "scheduling.suspend_resume_exclusion": "global",
        "scheduling.scheduling_threshold_factor": "2",
        "scheduling.force_scheduling_threshold": "90",
        "scheduling.override_suspend_time": "0",
        "scheduling.override_resume_time": "5",
        "scheduling.migration": "yes-notransfer",
        "scheduling.migration_bandwidth": "100",
        "scheduling.shutdown_time": "3",
        "policy.pricing_rate": "1.0",
        "policy.pricing_seed": "3",
        "policy.pricing_min_rate": "0.1",
        "policy.pricing_max_rate": "10",
        "scheduling.enactment_overhead": "2",
        "scheduling.preempt_at": "request",
        "scheduling.suspend_estimate": "sum",
        "simulation.stop_when": "exact",
        "simulation.stop_when_time": "86400",
        "simulation.check_invariants": "true",
        "simulation.failure_handling": "exit-raise",
        "simulation.runtime_slowdown_percent": "5",
        "simulation.add_overhead": "besteffort",
        "simulation.boot_shutdown_overhead": "20",
        "simulation.override_memory": "896",
        "image_transfer.lease_preparation": "imagetransfer",
        "image_transfer.bandwidth": "100",
        "image_transfer.keep_replanned": "false",
        "image_transfer.transfer_mechanism": "multicast",
        "image_transfer.avoid_redundant_transfers": "true",
        "image_transfer.force_imagetransfer_time": "10",
        "image_transfer.diskimage_reuse": "image-caches",
        "image_transfer.diskimage_cache_size": "-1",
        "accounting.probes": "ar,best-effort,immediate,cpu-utilization",
        "accounting.attributes": "profile:a,trace:b",
    }
    assert (conf.annotationfile, conf.injectionfile) == (tmp_path / "trace.lwfa", tmp_path / "reservations.lwf")
    assert conf.site == Site.homogeneous(4, Resources({"VCPU": 100, "MEMORY_MB": 1024}))
    assert (conf.start_time, conf.stop_when, conf.stop_when_time) == (1_164_456_000, "exact", 86_400)
    assert conf.overheads == OverheadOptions(5.0, 20, "besteffort", override_memory_mb=896)
    assert (conf.lease_preparation, conf.log_level, conf.log_file) == (
        "imagetransfer",
        "VDEBUG",
        Path("/logs/haizea.log"),
    )
    assert (conf.persistence_file, conf.status_message_interval) == (None, 15)
    assert conf.data_file == tmp_path / "results.dat"
    assert conf.later == {
        "scheduling.wakeup-interval": "30",
        "scheduling.non-schedulable-interval": "20",
        "opennebula.host": "localhost",
        "opennebula.port": "2633",
        "opennebula.stop-when-no-more-leases": "false",
        "opennebula.dry-run": "false",
    }


def test_the_full_example_has_every_option_of_the_table() -> None:
    """So that an option that is added to the table without a check above is noticed."""
    written = {line.split(":")[0].split(" =")[0] for line in FULL.splitlines() if not line.startswith(("#", "["))}
    assert written == {name for options in OPTIONS.values() for name in options}


def test_paths_are_relative_to_the_working_directory_or_else_to_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert _read(tmp_path, MINIMAL).tracefile == tmp_path / "trace.lwf"
    (elsewhere / "trace.lwf").write_text("")
    assert _read(tmp_path, MINIMAL).tracefile == Path("trace.lwf")
    assert _read(tmp_path, MINIMAL.replace("trace.lwf", "/abs/trace.lwf")).tracefile == Path("/abs/trace.lwf")


def test_the_site_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "site.xml").write_text(
        '<site><resource-types names="CPU Memory"/><nodes><node-set numnodes="3"><res type="CPU" amount="200"/>'
        '<res type="Memory" amount="64"/></node-set></nodes></site>'
    )
    conf = _read(tmp_path, MINIMAL.replace("in-tracefile", "file:site.xml"))
    assert conf.site == Site.homogeneous(3, Resources({"VCPU": 200, "MEMORY_MB": 64}))


def test_a_site_file_that_is_wrong_is_the_one_named(tmp_path: Path) -> None:
    (tmp_path / "site.xml").write_text("<sight/>")
    with pytest.raises(InputFileError, match=r"site\.xml:1: begins with <sight>"):
        _read(tmp_path, MINIMAL.replace("in-tracefile", "file:site.xml"))


def test_the_sample_of_the_dissertation_is_refused_by_the_simulator(tmp_path: Path) -> None:
    """Sotomayor 2010, figure 4.6"""
    with pytest.raises(InputFileError, match="haizea.conf:2: the simulator needs 'mode: simulated'"):
        _read(tmp_path, MINIMAL.replace("mode: simulated", "mode: opennebula"))


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("clock: simulated", "clock: real", 8, "the simulator needs 'clock: simulated'"),
        ("clock: simulated\n", "", 7, "the simulator needs 'clock: simulated'"),
        ("mode: simulated", "mode: magic", 2, "[general] mode: must be one of simulated, opennebula, not 'magic'"),
        ("mode: simulated\n", "", 1, "[general] lacks the option 'mode'"),
        ("suspension: none\n", "", 4, "[scheduling] lacks the option 'suspension'"),
        ("suspension: none", "suspension: all", 5, "'suspension: all' needs the option 'suspend-rate'"),
        ("suspension: none", "suspension: none\nbackfilling: intermediate", 6, "needs the option 'backfilling-reser"),
        ("suspension: none", "suspension: none\nmigration: True", 6, "must be one of no, yes, yes-notransfer"),
        ("suspension: none", "suspension: none\nsuspend-rate: 0", 6, "must be a number above 0, not '0'"),
        ("suspension: none", "suspension: none\nresume-rate: nan", 6, "must be a number above 0, not 'nan'"),
        ("suspension: none", "suspension: none\nshutdown-time: soon", 6, "'soon' is not a time"),
        ("suspension: none", "suspension: none\nbackfiling: off", 6, "no option 'backfiling'; known: mapper, policy-"),
        ("suspension: none", "suspension: none\nSuspension: all", 6, "section [scheduling] option 'suspension' stands"),
        ("suspension: none", "suspension: none\n[general]", 6, "section [general] stands here a second time"),
        ("suspension: none", "suspension: none\nno value here", 6, "is neither [section] nor 'option: value'"),
        ("clock: simulated", "clock: simulated\nstop-when: exact", 9, "needs the option 'stop-when-time'"),
        ("clock: simulated", "clock: simulated\nsanity-check: perhaps", 9, "must be true or false, not 'perhaps'"),
        ("2006-11-25 13:00:00", "yesterday", 9, "must be a date and time as 2006-11-25 13:00:00, not 'yesterday'"),
        ("2006-11-25 13:00:00", "1906-11-25", 9, "must not be before 1970"),
        ("in-tracefile", "4 CPU:100", 10, "resources: lacks Memory"),
        ("in-tracefile", "file:none.xml", None, "cannot be read"),
        ("imagetransfer-bandwidth: 100", "imagetransfer-bandwidth: -1", 11, "must be a number above 0"),
        ("[accounting]", "[accounting]\nprobes: ar, speed", 14, "not 'speed'"),
        ("[accounting]", "[accounting]\nattributes: profile", 14, "must be name=value,name=value"),
        ("[accounting]", "[accounting]\nattributes: a=1,a=2", 14, "names 'a' twice"),
        ("[accounting]", "[acounting]", 13, "there is no section [acounting]; known: general, scheduling"),
        ("[accounting]", "[DEFAULT]\nmode: x", 13, "there is no section [DEFAULT]"),
        ("[accounting]", "[common:general]", 13, "this is a multi-configuration file"),
        ("tracefile: trace.lwf", "tracefile:", 16, "[tracefile] tracefile: is empty"),
        ("tracefile: trace.lwf", "", 15, "[tracefile] lacks the option 'tracefile'"),
        ("[tracefile]\ntracefile: trace.lwf", "", None, "[tracefile] lacks the option 'tracefile'"),
        ("trace.lwf", "trace.lwf\noverride-memory: 0", 17, "must be a whole number of at least 1, not '0'"),
        ("[general]\n", "", 1, "stands before the first [section]"),
    ],
)
def test_a_bad_file_names_line_and_problem(tmp_path: Path, old: str, new: str, line: int | None, problem: str) -> None:
    assert old in MINIMAL
    with pytest.raises(InputFileError) as error:
        _read(tmp_path, MINIMAL.replace(old, new))
    assert error.value.line == line
    assert error.value.path.startswith(str(tmp_path))
    assert problem in error.value.problem


def test_options_without_effect_are_ignored_as_by_haizea(tmp_path: Path) -> None:
    text = MINIMAL.replace("suspension: none", "suspension: none\nbackfilling: aggressive\nbackfilling-reservations: 4")
    assert "backfilling-reservations" in text
    assert "scheduling.backfilling_reservations" not in _read(tmp_path, text).overrides
