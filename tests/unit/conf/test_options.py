"""The options: their help and defaults, what is refused, and which of several sources takes precedence."""

from __future__ import annotations

from pathlib import Path

import pytest
from keystoneauth1 import loading
from oslo_config import cfg

from lease_scheduler.cmd.configuration import load as load_service_configuration
from lease_scheduler.cmd.options.loading import load_configuration
from lease_scheduler.cmd.options.simulation import overhead_options, run_settings
from lease_scheduler.conf.opts import list_opts
from lease_scheduler.conf.values import ahead_options
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.plan.options import PlanningOptions, Suspension
from lease_scheduler.plan.transfers.options import Mechanism, Reuse, TransferOptions
from lease_scheduler.simulation.overheads import OverheadOptions
from lease_scheduler.simulation.settings import RunSettings, StopWhen


def test_every_option_has_a_help_text_that_ends_like_a_sentence() -> None:
    of_keystoneauth = [*loading.get_session_conf_options(), *loading.get_auth_common_conf_options()]
    for group, options in list_opts():
        for option in options:
            if option in of_keystoneauth:
                continue
            assert option.help, f"{group.name}.{option.name}"
            assert option.help.rstrip().endswith("."), f"{group.name}.{option.name}"


def test_the_defaults_of_options_and_values_are_the_same() -> None:
    """Each default is written in two places, which have to agree."""
    conf = load_configuration([], {})
    settings = run_settings(conf)
    assert settings.planning == PlanningOptions()
    assert settings == RunSettings(policy_options=settings.policy_options)
    assert overhead_options(conf) == OverheadOptions()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"scheduling.nothing": "1"},
            "scheduling.nothing: there is no such option; known are .*scheduling.deadline_placement",
        ),
        (
            {"nothing.backfilling": "off"},
            "nothing.backfilling: there is no such option; known are scheduling",
        ),
        ({"scheduling.backfilling": "some"}, "scheduling.backfilling: Valid values are"),
        ({"scheduling.suspend_rate": "0"}, "scheduling.suspend_rate: Should be greater"),
        ({"scheduling.shutdown_time": "-1"}, "scheduling.shutdown_time: Should be greater"),
        ({"simulation.check_invariants": "perhaps"}, "simulation.check_invariants: Unexpected boolean"),
        ({"scheduling.backfilling": "intermediate"}, "scheduling.backfilling_reservations: is needed"),
        ({"scheduling.backfilling_reservations": "2"}, "scheduling.backfilling_reservations: has no meaning"),
        ({"simulation.stop_when": "exact"}, "simulation.stop_when_time: goes with"),
        ({"simulation.stop_when_time": "5"}, "simulation.stop_when_time: goes with"),
        ({"simulation.host_failure": "0:5:5"}, "simulation.host_failure: must be"),
        ({"simulation.host_failure": "1:5"}, "simulation.host_failure: must be"),
    ],
)
def test_what_is_wrong_is_refused_at_start_by_its_name(overrides: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        run_settings(load_configuration([], overrides))


@pytest.mark.parametrize("name", ["deadline_placement", "mapper"])
def test_the_option_of_deadline_placement_keeps_its_old_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / "old.conf"
    path.write_text(f"[scheduling]\n{name} = greedy\n")
    assert not run_settings(load_configuration([path], {})).deadline_preemption
    assert not run_settings(load_configuration([], {f"scheduling.{name}": "greedy"})).deadline_preemption
    assert run_settings(load_configuration([path], {f"scheduling.{name}": "deadline"})).deadline_preemption


def test_the_service_reads_the_old_name_of_deadline_placement(tmp_path: Path) -> None:
    path = tmp_path / "old.conf"
    path.write_text("[scheduling]\nmapper = greedy\n")
    conf = load_service_configuration(["--config-file", str(path)], {})
    assert conf.scheduling.deadline_placement == "greedy"


def test_a_bad_value_under_the_old_name_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"scheduling\.mapper: Valid values are"):
        load_configuration([], {"scheduling.mapper": "spread"})


def test_image_transfers_are_planned_if_they_are_asked_for() -> None:
    """haizea F60-F68: every option of the group reaches its value."""
    overrides = {
        "image_transfer.lease_preparation": "imagetransfer",
        "image_transfer.bandwidth": "100",
        "image_transfer.transfer_mechanism": "unicast",
        "image_transfer.avoid_redundant_transfers": "false",
        "image_transfer.force_imagetransfer_time": "7",
        "image_transfer.diskimage_reuse": "image-caches",
        "image_transfer.diskimage_cache_size": "20480",
        "image_transfer.copy_on_write": "true",
        "image_transfer.keep_replanned": "false",
        "image_transfer.required": "false",
        "image_transfer.host_cache_age": "600",
        "simulation.image_transfer_factor": "1.5",
        "simulation.image_transfer_failures": "0.25",
    }

    settings = run_settings(load_configuration([], overrides))

    assert settings.transfers == TransferOptions(
        100,
        Mechanism.UNICAST,
        Reuse.IMAGE_CACHES,
        20480,
        avoid_redundant=False,
        force_seconds=7,
        keep_replanned=False,
        copy_on_write=True,
        required=False,
        host_cache_age=600,
    )
    assert settings.planning.migrate_disks
    assert (settings.cloud.image_transfer_factor, settings.cloud.image_transfer_failure_probability) == (1.5, 0.25)
    only_asked = run_settings(load_configuration([], {"image_transfer.lease_preparation": "imagetransfer"}))
    assert only_asked.transfers == TransferOptions()


def test_the_service_brings_images_ahead_and_waits_for_none(tmp_path: Path) -> None:
    """haizea 7.2: hosts fetch images one after the other unless the operator configures otherwise."""
    path = tmp_path / "service.conf"
    path.write_text("[image_transfer]\nlease_preparation = imagetransfer\nhost_cache_age = 600\n")
    conf = load_service_configuration(["--config-file", str(path)])

    assert ahead_options(conf) == TransferOptions(mechanism=Mechanism.UNICAST, required=False, host_cache_age=600)

    path.write_text("[image_transfer]\nlease_preparation = imagetransfer\ntransfer_mechanism = multicast\n")
    fans_out = ahead_options(load_service_configuration(["--config-file", str(path)]))
    assert fans_out is not None
    assert fans_out.mechanism is Mechanism.MULTICAST
    assert ahead_options(load_service_configuration([])) is None


def test_the_service_refuses_what_is_for_simulations(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """An option that would be ignored silently is refused."""
    path = tmp_path / "service.conf"
    path.write_text("[image_transfer]\nlease_preparation = imagetransfer\ndiskimage_cache_size = 20480\n")

    with pytest.raises(SystemExit):
        load_service_configuration(["--config-file", str(path)])

    assert "image_transfer.diskimage_cache_size: is for simulations" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("watts_awake = nan", "power.watts_awake: must be a finite number, not nan"),
        ("watts_awake = inf", "power.watts_awake: must be a finite number, not inf"),
        ("watts_awake = -1", "watts_awake"),
        ("watts_awake = 10\nwatts_asleep = 20", "power.watts_asleep: must be at most watts_awake, which is 10"),
        ("sleep_timeout = nan", "power.sleep_timeout: must be a finite number"),
    ],
)
def test_figures_of_power_that_make_no_sense_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, lines: str, message: str
) -> None:
    path = tmp_path / "service.conf"
    path.write_text(f"[power]\n{lines}\n")
    with pytest.raises(SystemExit):
        load_service_configuration(["--config-file", str(path)])
    assert message in capsys.readouterr().err


def test_overrides_win_over_files_and_later_files_over_earlier_ones(tmp_path: Path) -> None:
    first, second = tmp_path / "a.conf", tmp_path / "b.conf"
    first.write_text(
        "[scheduling]\nsuspension = none\nshutdown_time = 5\nsuspend_rate = 10\n[policy]\nextra = a:1,b:2\n"
    )
    second.write_text("[scheduling]\nshutdown_time = 6\nsuspend_rate = 20\n")
    settings = run_settings(load_configuration([first, second], {"scheduling.suspend_rate": "30"}))
    planning = settings.planning
    assert (planning.suspension, planning.shutdown_time, planning.suspend_rate) == (Suspension.NONE, 6, 30)
    assert (settings.policy_options["a"], settings.policy_options["b"]) == ("1", "2")
    assert settings.policy_options["admission_minimum_notice"] == "86400"


def test_a_bad_file_is_refused_by_the_option_s_name(tmp_path: Path) -> None:
    bad = tmp_path / "bad.conf"
    bad.write_text("[scheduling]\nsuspend_rate = fast\n")
    with pytest.raises(InvalidValueError, match=r"scheduling\.suspend_rate"):
        load_configuration([bad], {})
    bad.write_text("suspend_rate\n")
    with pytest.raises(InvalidValueError, match="bad.conf"):
        load_configuration([bad], {})


def test_all_of_the_simulated_cloud_can_be_set() -> None:
    overrides = {
        "simulation.boot_time": "30",
        "simulation.suspend_factor": "1.5",
        "simulation.operation_spread": "0.1",
        "simulation.host_failure": "3:100:50",
        "simulation.image_bandwidth": "100",
        "simulation.stop_when": "besteffort-done",
        "scheduling.backfilling": "intermediate",
        "scheduling.backfilling_reservations": "7",
        "simulation.override_memory": "512",
    }
    conf = load_configuration([], overrides)
    settings = run_settings(conf)
    (failure,) = settings.cloud.host_failures
    assert (failure.host, failure.instant, failure.duration) == (2, 100, 50)
    assert (settings.cloud.boot_time, settings.cloud.spread, settings.cloud.image_bandwidth) == (30, 0.1, 100)
    assert (settings.stop_when, settings.planning.backfilling_limit) == (StopWhen.BEST_EFFORT_DONE, 7)
    assert overhead_options(conf).override_memory_mb == 512


def test_no_global_configuration_is_touched() -> None:
    load_configuration([], {"scheduling.suspension": "none"})
    with pytest.raises(cfg.NoSuchOptError):
        _ = cfg.CONF.scheduling
