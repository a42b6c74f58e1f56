from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.cmd.manage import main


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("--seed", "-1", "at least 0"),
        ("--days", "0", "above 0"),
        ("--hosts", "0", "above 0"),
        ("--tenants", "-2", "above 0"),
        ("--count", "0", "above 0"),
        ("--faults", "rain", "no 'rain'"),
    ],
)
def test_a_wrong_option_is_named(capsys: pytest.CaptureFixture[str], option: str, value: str, complaint: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["rehearse", f"{option}={value}"])
    assert caught.value.code
    said = capsys.readouterr().err
    assert option in said
    assert complaint in said


def test_a_rehearsal_prints_its_digest_and_writes_its_history(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    main(["rehearse", "--seed", "2", "--days", "0.005", "--hosts", "2", "--tenants", "2", "--trace", str(trace)])
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("seed 2: ok, 0.005 days, ")
    assert "digest" in line
    history = trace.read_text()
    assert '/v1/os-hosts b\'{"name": "compute-2"}\' 201 CREATED' in history
    assert "has lock lease-scheduler-default" in history
