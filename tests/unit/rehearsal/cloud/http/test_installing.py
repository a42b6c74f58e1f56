from __future__ import annotations

import pytest
import requests
from keystoneauth1 import _utils
from keystoneauth1.access.service_catalog import ServiceCatalog
from keystoneauth1.identity.base import BaseIdentityPlugin

from lease_scheduler.rehearsal.cloud import http
from tests.unit.rehearsal.cloud.site import Site


def test_plain_requests_and_others_reach_the_model_as_the_same(site: Site) -> None:
    seen: list[http.Request] = []
    site.cloud.network.before = seen.append
    with http.installed(site.cloud.adapter):
        session = requests.Session()
        session.headers["Accept"] = None  # type: ignore[assignment]
        plain = session.request("get", "http://identity/v3?a=1", headers={"X-Some": "thing"})
        other = requests.get("http://identity/v3", params={"a": "1"}, headers={"X-Some": "thing"}, cookies={"b": "2"})
    first, second = seen
    assert (first.method, first.path, first.query, first.body) == (second.method, second.path, second.query, None)
    assert first.headers["x-some"] == second.headers["x-some"] == "thing"
    assert "accept" not in first.headers
    assert plain.json() == other.json()
    assert (plain.status_code, plain.ok, plain.url) == (200, True, other.url)


def test_text_of_a_body_is_sent_as_it_is(site: Site) -> None:
    site.cloud.network.before = lambda request: http.Answer(200, request.body)
    with http.installed(site.cloud.adapter):
        answer = requests.Session().request("POST", "http://identity/v3", data='{"a": {"ä": 1}}')
    assert answer.json() == {"a": {"ä": 1}}


def test_what_clients_keep_is_put_back() -> None:
    before = _utils.parse_isotime, ServiceCatalog.normalize_catalog, requests.Session.request
    with http.installed(Site().cloud.adapter):
        assert _utils.parse_isotime("2030-01-01T00:00:00Z") is _utils.parse_isotime("2030-01-01T00:00:00Z")
        with pytest.raises(ValueError, match="never"):
            _utils.parse_isotime("never")
    assert (_utils.parse_isotime, ServiceCatalog.normalize_catalog, requests.Session.request) == before


def test_a_catalogue_is_copied_once(site: Site) -> None:
    with http.installed(site.cloud.adapter):
        session = site.session()
        assert isinstance(session.auth, BaseIdentityPlugin)
        catalogue = session.auth.get_access(session).service_catalog
        kept = catalogue.normalize_catalog()
        assert session.get_endpoint(service_type="placement") == "http://placement"
        assert catalogue.normalize_catalog() is kept
