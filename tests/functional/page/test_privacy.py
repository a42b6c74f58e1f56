"""What a project sees of others: that they keep the site busy, in one row, and nothing that looks like a lease."""

from __future__ import annotations

import json

from selenium.webdriver.support.select import Select

from lease_scheduler.api.calendar.cache import Listed
from lease_scheduler.api.calendar.parts import LeasePart
from lease_scheduler.api.handlers.calendar import private_calendar
from lease_scheduler.records.calendar import SiteVersion
from tests.functional.page.browser import Page
from tests.functional.page.service import NOW, Service, holding, host, lease


def _tell(service: Service, project_id: str) -> None:
    """Have the service send what the API sends to a member of a project."""
    everything = [
        lease("mine", "reservation", "active", holdings=[holding(-1, 2, [1])], project_id="biology"),
        lease("theirs", "best-effort", "active", holdings=[holding(-2, 4, [2, 3])]),
        lease("later", "deadline", "scheduled", holdings=[holding(5, 6, [1])]),
    ]
    found = Listed(SiteVersion(1, 1), [(LeasePart.of({**each, "revision": 1}), None) for each in everything])
    all_hosts = [host(number) for number in (1, 2, 3)]
    hosts, leases, _ = private_calendar(found, all_hosts, project_id, NOW, usable=all_hosts, may_change=True)
    service.use = 3, 3
    service.set_hosts(hosts)
    service.put(*(json.loads(text) for text in leases))


def test_others_are_a_grey_row(page: Page, service: Service) -> None:
    _tell(service, "biology")
    page.open()
    ((x, y, width, height),) = page.script("return calendar.timeline.boxes(arguments[0])", f"busy-{NOW - 2 * 3600}")
    colour = page.script("return getComputedStyle(document.documentElement).getPropertyValue('--ghost').trim()")
    assert page.pixel(x + width * 0.7, y + height / 2) == tuple(bytes.fromhex(colour.removeprefix("#")))
    page.move_to(x + width * 0.7, y + height / 2).click().perform()
    assert not page.shown("#details")
    page.click("mine")
    assert page.shown("#details")


def test_hosts_are_rows_with_numbers(page: Page, service: Service) -> None:
    """Hosts of the project have their names, the others have numbers; dragging over rows fills in the form.

    The row of other projects is no host.
    """
    _tell(service, "biology")
    page.open("#rows=24")
    assert page.script("return calendar.model.rows.map((host) => host.name)") == [
        "node-1",
        "other projects",
        "Host 1",
        "Host 2",
    ]
    y = 40 + 34 + 2 * 24 + 12
    page.move_to(900, y + 24).click_and_hold().move_by_offset(40, -48).move_by_offset(40, 0).release().perform()
    page.until(lambda: page.shown("#booking"))
    assert page.one("#booking-form [name=count]").get_attribute("value") == "2"
    assert page.one("#booking-form [name=exclusive]").is_selected()


def test_a_member_without_leases_can_drag(page: Page, service: Service) -> None:
    _tell(service, "chemistry")
    page.open("#rows=24")
    names = page.script("return calendar.model.rows.map((host) => host.name)")
    assert names == ["other projects", "Host 1", "Host 2", "Host 3"]
    page.move_to(900, 40 + 34 + 36).click_and_hold().move_by_offset(60, 0).release().perform()
    page.until(lambda: page.shown("#booking"))


def test_hosts_in_use_are_those_of_the_site(page: Page, service: Service) -> None:
    """They come from the service, as of now: another part of time, or another lease, changes nothing."""
    _tell(service, "biology")
    service.use = 50, 144
    page.open()
    assert (page.text("#use"), page.text("#use-counts")) == ("35 %", "50 of 144")
    service.remove("mine")
    page.script("calendar.timeline.show(calendar.timeline.start + 90 * 86400, 86400)")
    page.until(lambda: not page.script("return calendar.model.leases.has('id-mine')"))
    assert (page.text("#use"), page.text("#use-counts")) == ("35 %", "50 of 144")
    service.use = 51, 144
    page.says("#use-counts", "51 of 144")


def test_they_are_counted_nowhere(page: Page, service: Service) -> None:
    _tell(service, "biology")
    page.open("#view=leases")
    assert page.names("leases") == ["mine"]
    assert page.text("#matches") == "1 lease"
    assert (page.text("#count-active"), page.text("#count-planned")) == ("1", "0")
    options = [option.text for option in page.all("#filter-form [name=project] option")]
    assert options == ["all", "biology"]


def test_the_own_project_comes_first(page: Page, service: Service) -> None:
    """Whoever sees several projects begins with the own one, and can choose the others or all of them."""
    service.project = {"id": "biology", "name": "Biology"}
    service.put(
        lease("mine", "reservation", "active", holdings=[holding(-1, 2, [1])], project_id="biology"),
        lease("theirs", "best-effort", "active", holdings=[holding(-2, 4, [2])], project_id="astronomy"),
    )
    page.open("#view=leases")
    chosen = Select(page.one("#filter-form select"))
    assert [option.text for option in chosen.options] == ["Biology (my project)", "all", "astronomy"]
    assert page.names("leases") == ["mine"]
    assert "Biology" in page.cells("leases", "mine")
    assert page.text("#matches") == "1 of 2 leases shown"
    assert not page.shown("#filter-form [name=clear]")
    chosen.select_by_visible_text("all")
    page.until(lambda: sorted(page.names("leases")) == ["mine", "theirs"])
    page.until(lambda: page.driver.current_url.endswith("#view=leases&project="))
    chosen.select_by_visible_text("astronomy")
    page.until(lambda: page.names("leases") == ["theirs"])
    assert page.shown("#filter-form [name=clear]")
    page.one("#filter-form [name=clear]").click()
    page.until(lambda: page.names("leases") == ["mine"])
    page.until(lambda: page.driver.current_url.endswith("#view=leases"))
    page.open("#view=leases&project=")
    assert sorted(page.names("leases")) == ["mine", "theirs"]


def test_details_name_the_project_and_the_user(page: Page, service: Service) -> None:
    """The own project by its name; other projects and users by their ids, which are all that the page knows of them."""
    service.project = {"id": "biology", "name": "Biology"}
    service.put(
        lease("mine", "reservation", "active", holdings=[holding(-1, 2, [1])], project_id="biology"),
        lease("theirs", "best-effort", "active", holdings=[holding(-2, 4, [2])], project_id="astronomy"),
    )
    for name, project in (("mine", "Biology"), ("theirs", "astronomy")):
        service.terms[f"id-{name}"] = {"user_id": f"user-of-{name}"}
        page.open(f"#project=&lease=id-{name}")
        page.until(lambda booked=f"Booked by\nuser-of-{name}": booked in page.text(".terms"))  # type: ignore[misc]
        assert f"Project\n{project}\n" in page.text("#details .lease")


def test_names_that_the_identity_service_knows(page: Page, service: Service) -> None:
    """Those of the project and the users of a lease come after the lease."""
    service.project = {"id": "biology", "name": "Biology"}
    service.put(lease("theirs", "best-effort", "active", holdings=[holding(-2, 4, [2])], project_id="astronomy"))
    service.terms["id-theirs"] = {"user_id": "u1"}
    step = {"time": "2026-03-02T10:00:00Z", "from": "new", "to": "active", "reason": "", "by_operator": False}
    service.history["id-theirs"] = [step | {"user_id": "u1"}, step | {"user_id": "u2"}]
    service.names = {"project": "Astronomy", "users": {"u1": "galileo"}}
    page.open("#project=&lease=id-theirs")
    page.until(lambda: "Booked by\ngalileo" in page.text(".terms"))
    assert "Project\nAstronomy\n" in page.text("#details .lease")
    assert "(by galileo)" in page.text(".history")
    assert "(by user u2)" in page.text(".history")


def test_operators_see_projects_by_name(page: Page, service: Service) -> None:
    service.project = {"id": "biology", "name": "Biology"}
    service.put(lease("theirs", "best-effort", "active", holdings=[holding(-2, 4, [2])], project_id="astronomy"))
    service.projects = [{"id": "astronomy", "name": "Astronomy"}, {"id": "unused", "name": "Unused"}]
    page.open("#view=leases&project=")
    page.until(lambda: "Astronomy" in page.text("#view-leases"))
    assert service.paths().count("/v1/projects") == 1


def test_an_own_project_without_leases(page: Page, service: Service) -> None:
    """It says so, and leads to those of the others."""
    service.project = {"id": "biology", "name": "Biology"}
    service.put(lease("theirs", "best-effort", "active", holdings=[holding(-2, 4, [2])], project_id="astronomy"))
    page.open("#view=leases")
    assert page.text("#message h2") == "There are no leases of the project Biology at this time"
    page.one("#message button").click()
    page.until(lambda: page.names("leases") == ["theirs"])


def test_without_identity_all_projects_are_shown(page: Page, sight: Service) -> None:
    """Nobody has a project then, so a new lease has no choice of one either."""
    page.open("#view=leases")
    assert Select(page.one("#filter-form select")).first_selected_option.text == "all"
    assert len(page.names("leases")) == 8
    page.one("#book").click()
    assert not page.shown("#booking-form [name=project]")
    assert not page.shown("#account")
    assert not page.shown("#login")


def test_a_project_without_leases(page: Page, service: Service) -> None:
    _tell(service, "chemistry")
    page.open()
    assert page.text("#message h2") == "There are no leases yet"
    assert page.text("#use-counts") == "3 of 3"
