"""Options of the service that are refused at its start."""

from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.options.service import service_options
from lease_scheduler.model.errors import InvalidValueError


@pytest.mark.parametrize(
    ("text", "reason"),
    [("0.9,1", "must be more than 0 and less than 1, not 1.0"), ("0.9,0.90", "must name each probability once")],
)
def test_promises_to_servers_without_a_lease_have_probabilities(text: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "site.conf"
    cloud = "[service]\ncloud = simulated\n"
    file.write_text(f"{cloud}[engine]\nguest_assurances = 0.95, 0.8\n")
    assert service_options(configuration.load(["--config-file", str(file)])).guest_assurances == (0.95, 0.8)
    file.write_text(f"{cloud}[engine]\nguest_assurances = {text}\n")
    with pytest.raises(InvalidValueError, match=reason):
        service_options(configuration.load(["--config-file", str(file)]))
