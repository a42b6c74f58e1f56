"""Records of hosts that are out of service and hosts that sleep, so that this survives a restart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lease_scheduler.model.power import HostPower, PowerState
from lease_scheduler.records.pool import FOR_GOOD
from lease_scheduler.service.core.site_records import SiteRecords


class HostStates:
    """The states of hosts in the records of a site. Hold the lock of the site.

    :param records: the records of the site
    """

    def __init__(self, records: SiteRecords) -> None:
        self._records = records
        self._has_new_wishes = False

    def note_outages(self, outages: Mapping[str, tuple[int, int | None]]) -> None:
        """Write which hosts are out of service.

        :param outages: since when, and until when if this is known, by name of the host
        """
        if not outages and not self._records.out_of_service:
            return
        for host in list(self._records.hosts.values()):
            until = outages[host.name][1] or FOR_GOOD if host.name in outages else None
            if host.out_until != until:
                self._records.put_host(replace(host, out_until=until))

    def note_powers(self, powers: Mapping[str, HostPower]) -> None:
        """Write which hosts are to sleep or wake, before they are told."""
        if not powers:
            return
        for host in list(self._records.hosts.values()):
            if host.name in powers and host.power != powers[host.name]:
                self._records.put_host(replace(host, power=powers[host.name]))
                self._has_new_wishes = True

    def take_new_wishes(self) -> bool:
        """Return whether the power of a host was written since the last call."""
        taken, self._has_new_wishes = self._has_new_wishes, False
        return taken

    def wishes(self) -> dict[str, PowerState]:
        """Return the recorded power states of hosts, by name."""
        return {host.name: host.power.state for host in self._records.hosts.values() if host.power is not None}
