"""What a real Placement makes of claims that meet. The report for its maintainers says what these tests show."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.functional.placement.site import Site, consumer_id

#: Of the host, in MiB; one server of 8 GiB has room on it.
_MEMORY = 15_872
_SERVER = 8_192


def _two(site: Site, host: str) -> list[Callable[[], int]]:
    """Claims of two servers."""
    return [partial(site.claim, host, _SERVER, consumer=consumer_id(number)) for number in (3, 9)]


def test_one_after_the_other_they_get_what_there_is(site: Site) -> None:
    host = site.make_host(_MEMORY)
    assert [claim() for claim in _two(site, host)] == [204, 409]
    assert site.used(host) == _SERVER


def test_claims_that_meet_get_more_than_there_is(site: Site) -> None:
    """The fault. When this fails, Placement has mended it, and the warnings about it can go."""
    host = site.make_host(_MEMORY)
    assert [answer.result() for answer in site.meet(host, *_two(site, host))] == [204, 204]
    assert site.used(host) == 2 * _SERVER > _MEMORY


def test_with_read_committed_too(read_committed_site: Site) -> None:
    """The second half of the fault: what the first attempt has written counts as what the consumer had before."""
    site = read_committed_site
    host = site.make_host(_MEMORY)
    assert [answer.result() for answer in site.meet(host, *_two(site, host))] == [204, 204]
    assert site.used(host) == 2 * _SERVER > _MEMORY


def test_without_further_attempts_of_placement_one_of_them_gets_it(sound_site: Site) -> None:
    """And the other one is told so when it asks again."""
    host = sound_site.make_host(_MEMORY)
    assert sorted(answer.result() for answer in sound_site.meet(host, *_two(sound_site, host))) == [204, 409]
    assert sound_site.used(host) == _SERVER
    assert sound_site.claim(host, _SERVER, consumer=consumer_id(12)) == 409
