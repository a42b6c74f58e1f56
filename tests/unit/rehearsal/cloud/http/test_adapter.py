from __future__ import annotations

import pytest
import requests
from keystoneauth1.exceptions.http import ServiceUnavailable

from lease_scheduler.rehearsal.cloud import http
from lease_scheduler.rehearsal.cloud.http import Answer
from tests.unit.rehearsal.cloud.site import Site


def test_requests_reach_the_model_only_within_the_block() -> None:
    site = Site()
    before = requests.Session.get_adapter, requests.Session.merge_environment_settings
    with http.installed(site.cloud.adapter):
        assert requests.get("http://identity/v3").json()["version"]["id"] == "v3.14"
        assert requests.Session().get_adapter("http://elsewhere") is not site.cloud.adapter
        assert "proxies" in requests.Session().merge_environment_settings("http://elsewhere", {}, None, None, None)
    assert (requests.Session.get_adapter, requests.Session.merge_environment_settings) == before
    assert requests.Session().get_adapter("http://identity/v3") is not site.cloud.adapter


def test_a_hook_answers_instead_of_a_service(site: Site) -> None:
    session = site.session()
    session.get_token()
    site.cloud.network.before = lambda request: Answer(503) if request.service == "compute" else None
    with pytest.raises(ServiceUnavailable):
        session.get("http://compute/v2.1/flavors/detail", connect_retries=0)
    assert session.get("http://placement/resource_providers").status_code == 200


def test_the_answer_is_lost_and_the_effect_stays(site: Site) -> None:
    """As when a connection breaks after the service has done its work."""
    nova = site.nova()
    nova.aggregates.create("known", None)

    def lose(request: http.Request, answer: Answer) -> Answer:
        if request.method == "POST":
            raise requests.ConnectionError("the connection broke")
        return answer

    site.cloud.network.after = lose
    with pytest.raises(Exception, match="broke"):
        nova.aggregates.create("lost", None)
    assert sorted(each.name for each in nova.aggregates.list()) == ["known", "lost"]
