"""``openstack lease ...``, our own plug-in, against the running service: every command."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.compat.inside import InsideShell
from tests.compat.shell import END, START, TOKEN, ReservationService, Shell, shown
from tests.servers.base import wait_until

ALL_HOSTS = "count=4,vcpus=1,exclusive=true"
ONE = "vcpus=1,memory_mb=512"
LATER = ("--start", START.isoformat(), "--end", END.isoformat())
HOUR = timedelta(hours=1)
LIMIT = 30.0
HEADERS = {"X-Auth-Token": TOKEN, "OpenStack-API-Version": "reservation latest"}


class Lease(InsideShell):
    """``openstack lease``, with the hosts in the pool."""

    def __call__(self, *words: str) -> Any:
        """Run a command and return the JSON that it prints."""
        return self.openstack("lease", *words, "-f", "json").document

    def quiet(self, *words: str) -> str:
        """Run a command, which must succeed, and return its output as text."""
        outcome = self.openstack("lease", *words)
        assert outcome.status == 0, outcome.errors
        return outcome.output

    def refused(self, *words: str) -> str:
        """Run a command that fails, and return its message."""
        outcome = self.openstack("lease", *words)
        assert outcome.status != 0, outcome.output
        assert "Traceback" not in outcome.errors
        return outcome.errors.strip().splitlines()[-1]

    def reaches(self, name: str, state: str) -> bool:
        """Return whether a lease enters a state within the limit."""
        return wait_until(lambda: self("show", name)["state"] == state, LIMIT)


@pytest.fixture
def lease(reservation_service: ReservationService) -> Lease:
    found = Lease(reservation_service)
    for number in range(1, 5):
        found.reservation("host", "create", f"compute-{number}")
    return found


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [row["Name"] for row in rows]


def test_all_kinds_are_made_listed_and_shown(lease: Lease) -> None:
    made = lease("create", "meeting", "--nodes", ONE, *LATER, "--extra", "ticket=7", "--on-end", "snapshot")
    assert (made["kind"], made["state"], made["status"]) == ("reservation", "ready", "PENDING")
    assert (shown(made["start_date"]), shown(made["end_date"])) == (START, END)
    made = lease("create", "batch", "--kind", "best-effort", "--nodes", f"count=2,{ONE}", "--duration", "2h")
    assert (made["kind"], made["duration"], made["preemptible"]) == ("best-effort", 7_200, True)
    deadline = (START + HOUR).isoformat()
    made = lease(
        *("create", "report", "--kind", "deadline", "--nodes", ONE, "--duration", "45m", "--deadline", deadline),
        *("--start", START.isoformat(), "--not-preemptible"),
    )
    assert (made["kind"], made["duration"], made["preemptible"]) == ("deadline", 2_700, False)
    assert made["deadline"] == f"{deadline}Z"
    assert START <= shown(made["start_date"]) <= shown(made["end_date"]) <= START + HOUR
    made = lease("create", "now", "--kind", "immediate", "--nodes", ONE, "--duration", "1h")
    assert (made["kind"], shown(made["end_date"]) - shown(made["start_date"])) == ("immediate", HOUR)
    for name in ("batch", "now"):
        assert lease.reaches(name, "active")
    assert names(lease("list")) == ["meeting", "batch", "report", "now"]
    assert names(lease("list", "--sort", "name:desc", "--limit", "3")) == ["report", "now", "meeting"]
    assert names(lease("list", "--kind", "deadline")) == names(lease("list", "--name", "report")) == ["report"]
    assert names(lease("list", "--state", "active")) == names(lease("list", "--status", "ACTIVE")) == ["batch", "now"]
    marker = lease("show", "batch")["id"]
    (row,) = lease("list", "--marker", marker, "--limit", "1", "--long")
    assert (row["Name"], row["Duration"], row["Preemptible"]) == ("report", 2_700, False)
    assert lease("list", "--project", "somebody-else") == []
    assert len(lease("list", "--all-projects")) == 4
    meeting = lease("show", "meeting")
    assert meeting == lease("show", meeting["id"])
    assert meeting["on_end"] == "snapshot"
    (holding,) = meeting["holdings"]
    assert (holding["start"], len(holding["hosts"])) == (f"{START.isoformat()}Z", 1)


def test_a_command_waits_until_its_lease_is_active(lease: Lease) -> None:
    now = lease("create", "now", "--kind", "immediate", "--nodes", ALL_HOSTS, "--duration", "1h", "--wait")
    assert now["state"] == "active"
    assert now == lease("show", "now", *(f"-c{key}" for key in now))
    late = lease.refused("create", "late", "--nodes", ONE, *LATER, "--wait", "--timeout", "1s")
    made = lease("show", "late")
    assert late == f"Lease late ({made['id']}) is still ready after 1 s; it is kept."
    assert "HTTP 409" in lease.refused(
        *("create", "full", "--kind", "immediate", "--nodes", ALL_HOSTS, "--duration", "1h", "--wait")
    )
    batch = ("create", "batch", "--kind", "best-effort", "--nodes", ALL_HOSTS, "--duration", "1h")

    def batches() -> list[Any]:
        answer = requests.get(f"{lease.service.url}/v1/leases?name=batch", headers=HEADERS, timeout=LIMIT)
        return list(answer.json()["leases"])

    def cancel() -> None:
        assert wait_until(lambda: bool(batches()), LIMIT)
        (found,) = batches()
        requests.delete(f"{lease.service.url}/v1/leases/{found['id']}", headers=HEADERS, timeout=LIMIT)

    # By REST, because commands within this process share its output.
    with ThreadPoolExecutor() as elsewhere:
        done = elsewhere.submit(cancel)
        message = lease.refused(*batch, "--wait", "--timeout", "1m")
        done.result()
    assert re.fullmatch(r"Lease batch \([0-9a-f-]{36}\) is cancelled and was not active.*", message)


def test_reservations_as_blazar_has_them_and_servers(lease: Lease) -> None:
    lease.reservation("floatingip", "create", "external", "192.0.2.7")
    made = lease(
        *("create", "mixed", *LATER, "--before-end", (END - HOUR / 2).isoformat()),
        *("--reservation", "resource_type=physical:host,min=1,max=1"),
        *("--reservation", "resource_type=virtual:instance,vcpus=1,memory_mb=512,disk_gb=1,amount=2,affinity=False"),
        *("--reservation", "resource_type=flavor:instance,flavor_id=1,amount=1"),
        *(
            "--reservation",
            'resource_type=virtual:floatingip,network_id=external,amount=1,required_floatingips=["192.0.2.7"]',
        ),
        *("--server", "name=web,image=cirros,count=2,node_set=1,network=private"),
    )
    kinds = [reservation["resource_type"] for reservation in made["reservations"]]
    assert kinds == ["physical:host", "virtual:instance", "flavor:instance", "virtual:floatingip"]
    (server,) = made["servers"]
    assert (server["name"], server["count"], server["networks"]) == ("web", 2, [{"network_id": "private"}])
    instances = made["reservations"][1]
    changed = lease(
        "set", "mixed", "--reservation", f"id={instances['id']},amount=1", "--if-version", str(made["version"])
    )
    assert changed["reservations"][1]["amount"] == 1
    assert "HTTP 409" in lease.refused("set", "mixed", "--name", "other", "--if-version", str(made["version"]))
    hosts = lease("host", "list", "mixed")
    assert {row["Reservation ID"] for row in hosts} >= {made["reservations"][0]["id"], instances["id"]}
    assert {row["Hypervisor Hostname"] for row in hosts} >= {"compute-1"}


def test_a_lease_is_changed_and_its_history_is_kept(lease: Lease) -> None:
    made = lease("create", "first", "--nodes", f"count=2,{ONE},exclusive=true", *LATER)

    def span(changed: dict[str, Any]) -> tuple[timedelta, timedelta]:
        return shown(changed["start_date"]) - START, shown(changed["end_date"]) - END

    nothing = timedelta(0)
    changed = lease("set", "first", "--name", "second", "--end", (END + HOUR).isoformat(), "--extra", "a=b")
    assert (changed["id"], changed["name"], span(changed)) == (made["id"], "second", (nothing, HOUR))
    assert span(lease("extend", "second", "--by", "1h")) == (nothing, 2 * HOUR)
    assert span(lease("extend", "second", "--duration", "7h")) == (nothing, 3 * HOUR)
    assert span(lease("shrink", "second", "--by", "2h30m")) == (nothing, HOUR / 2)
    assert span(lease("shrink", "second", "--end", END.isoformat())) == (nothing, nothing)
    reservation = f"id={made['reservations'][0]['id']},min=1,max=1"
    moved = lease("move", "second", "--start", (START + HOUR).isoformat(), "--end", (END + HOUR).isoformat())
    assert span(moved) == (HOUR, HOUR)
    left = lease("host", "list", "second")[0]["Hypervisor Hostname"]
    lease("move", "second", "--away-from", left)
    hosts = [row["Hypervisor Hostname"] for row in lease("host", "list", "second")]
    assert (len(hosts), left in hosts) == (2, False)
    fewer = lease("shrink", "second", "--reservation", reservation)
    assert (fewer["reservations"][0]["min"], fewer["reservations"][0]["max"]) == (1, 1)
    assert len(lease("host", "list", "second")) == 1
    assert "extend" in lease.refused("extend", "second", "--by", "-1h")
    lease.quiet("delete", "second", "--reason", "not needed any more")
    assert lease("list") == []
    assert names(lease("list", "--deleted")) == ["second"]
    gone = lease("show", made["id"], "--deleted")
    assert (gone["state"], gone["reason"], span(gone)) == ("cancelled", "not needed any more", (HOUR, HOUR))
    assert "No lease found" in lease.refused("show", "second")


def test_a_lease_ends_early(lease: Lease) -> None:
    made = lease("create", "short", "--kind", "immediate", "--nodes", ONE, "--duration", "1d")
    assert lease.reaches("short", "active")
    # A lease that ends within a second has no use at all.
    assert wait_until(lambda: [row["Node Hours"] for row in lease("usage")] > [0], LIMIT)
    lease("end", "short")
    assert lease.reaches("short", "done")
    ended = lease("show", "short")
    assert ended["ended_at"] is not None
    assert shown(ended["end_date"]) < shown(made["end_date"])
    history = lease("history", "short")
    assert [(row["From"], row["To"]) for row in history][-1][1] == "done"
    assert "active" in [row["To"] for row in history]
    usage = lease("usage")
    (row,) = usage
    assert row["Node Hours"] > 0
    assert lease("usage", "--all-projects") == usage
    assert [row["Node Hours"] for row in lease("usage", "--project", "somebody-else")] == [0]
    lease.quiet("delete", "short")


def test_what_is_free_and_what_would_be(lease: Lease) -> None:
    lease("create", "taken", "--nodes", "count=2,vcpus=1,exclusive=true", *LATER)
    day = ("--start", (START - HOUR).isoformat(), "--end", (END + HOUR).isoformat(), "--duration", "1h")
    rows = lease("availability", "--nodes", ALL_HOSTS, *day)
    times = [(row["Start"], row["End"], row["Count"]) for row in rows]
    assert times == [
        (f"{(START - HOUR).isoformat()}Z", f"{START.isoformat()}Z", 4),
        (f"{END.isoformat()}Z", f"{(END + HOUR).isoformat()}Z", 4),
    ]
    rows = lease("availability", "--nodes", f'count=2,{ONE},properties=["==", "$vcpus", "0"]', *day)
    assert rows == []
    granted = lease("quote", "other", "--nodes", "count=2,vcpus=1,exclusive=true", *LATER)
    assert granted["granted"] is True
    refused = lease("quote", "other", "--nodes", ALL_HOSTS, *LATER)
    assert (refused["granted"], refused["alternatives"] != []) == (False, True)
    message = lease.refused("create", "other", "--nodes", ALL_HOSTS, *LATER)
    assert "Not enough hosts available" in message
    assert f"Possible: start {END.isoformat()}Z" in message
    assert names(lease("list")) == ["taken"]


def test_series_and_the_feed(lease: Lease) -> None:
    made = lease("series", "create", "weekly", "--rule", "FREQ=WEEKLY;COUNT=3", "--nodes", ONE, *LATER)
    assert (len(made["leases"]), made["refused"]) == (3, [])
    (row,) = lease("series", "list")
    assert (row["ID"], row["Name"], row["Rule"]) == (made["id"], "weekly", "FREQ=WEEKLY;COUNT=3")
    assert set(lease("series", "show", "weekly")["leases"]) == set(made["leases"])
    rows = lease("list", "--series", "weekly", "--sort", "start")
    assert [shown(row["Start Date"]) for row in rows] == [START + timedelta(weeks=week) for week in range(3)]
    feed = lease.quiet("feed")
    assert feed.count("BEGIN:VEVENT") == 3
    assert feed.startswith("BEGIN:VCALENDAR")
    lease.quiet("series", "delete", "weekly")
    assert lease("series", "list") == []
    assert lease("list") == []
    assert "No series found" in lease.refused("series", "show", "weekly")


def test_maintenance(lease: Lease) -> None:
    lease("create", "tenant", "--nodes", "count=1,vcpus=1,exclusive=true", *LATER)
    (row,) = lease("host", "list", "tenant")
    host = row["Hypervisor Hostname"]
    made = lease("maintenance", "create", "disks", "--host", host, "--start", START.isoformat(), "--duration", "2h")
    assert made["maintenance"] is True
    (listed,) = lease("maintenance", "list")
    assert (listed["Name"], listed["Hosts"]) == ("disks", [host])
    (row,) = lease("host", "list", "tenant")
    assert row["Hypervisor Hostname"] != host, "the lease has made way"
    lease.quiet("delete", "disks")
    assert lease("maintenance", "list") == []


def test_it_runs_as_its_users_run_it(reservation_service: ReservationService) -> None:
    shell = Shell(reservation_service)
    assert shell.openstack("lease", "list", "-f", "json").document == []
    outcome = shell.openstack("lease", "create", "x", "--kind", "deadline", "--nodes", ONE)
    assert outcome.status == 1
    assert outcome.errors.strip().splitlines()[-1] == "Missing parameter duration, deadline (HTTP 400)"


_BASH = """
_get_comp_words_by_ref() {{ words=({typed}); cur="${{words[-1]}}"; prev="${{words[-2]}}"; }}
source {script}
_openstack
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def test_a_shell_completes_our_commands(lease: Lease, tmp_path: Path) -> None:
    """By the script of ``openstack complete``, in a real bash, with all other clients that are installed."""
    script = tmp_path / "completion.bash"
    # The process of the tests has another name than that of the command.
    printed = lease.openstack("complete", "--name", "openstack").output
    script.write_text(printed.replace("complete -F _", "# complete -F _"))

    def completed(*typed: str) -> list[str]:
        program = _BASH.format(typed=" ".join(f"'{word}'" for word in typed), script=script)
        ended = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True, timeout=60)
        return ended.stdout.split()

    assert completed("openstack", "lea") == ["lease"]
    assert completed("openstack", "lease", "cr") == ["create"]
    assert completed("openstack", "lease", "create", "--nod") == ["--nodes"]
    assert completed("openstack", "lease", "host", "sl") == ["sleep"]
