import pytest
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import parse
from hyperkube_host.apiserver.rest.continue_token import encode_token
from hyperkube_host.apiserver.rest.list_options import ListOptions, check, list_options

from hyperkube.machinery.errors import ApiError, BadRequest, Invalid
from hyperkube.machinery.users import LOOPBACK


def request(**query):
    given = {name: [value] for name, value in query.items()}
    path = "/api/v1/namespaces/a/pods"
    return ApiRequest(method="GET", path=path, info=parse("GET", path, given), query=given, user=LOOPBACK)


def test_a_further_page_reads_the_revision_of_the_first():
    options = list_options(request(limit="2", **{"continue": encode_token("a/p", "a/", 7)}), "a/")

    assert (options.version, options.exact, options.start) == (7, True, "a/p")


def test_a_token_that_gave_up_consistency_reads_what_is_there_now():
    options = list_options(request(**{"continue": encode_token("a/p", "a/", -1)}), "a/")

    assert (options.version, options.exact) == (None, False)


def test_a_continued_list_takes_no_resource_version():
    with pytest.raises(BadRequest, match="specifying resource version is not allowed"):
        list_options(request(resourceVersion="5", **{"continue": encode_token("a/p", "a/", 7)}), "a/")


def test_version_zero_reads_everything_that_is_cached():
    options = list_options(request(limit="2", resourceVersion="0"), "")

    assert (options.version, options.limit) == (0, 0)


def test_version_zero_has_pages_where_nothing_is_cached():
    options = list_options(request(limit="2", resourceVersion="0"), "", is_cached=False)

    assert (options.version, options.limit, options.exact) == (0, 2, False)


def test_a_match_needs_a_version():
    with pytest.raises(Invalid, match="resourceVersionMatch is forbidden unless resourceVersion is provided"):
        list_options(request(resourceVersionMatch="Exact"), "")


def test_a_version_that_is_no_number_is_refused():
    with pytest.raises(BadRequest, match=r'invalid resource version: .* parsing "abc": invalid syntax'):
        list_options(request(resourceVersion="abc"), "")


@pytest.mark.parametrize("text", ["1_0", " 1", "+", "٣", "1e3", "0x1F"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(BadRequest, match="invalid syntax"):
        list_options(request(limit=text), "")


@pytest.mark.parametrize("name", ["limit", "timeoutSeconds"])
@pytest.mark.parametrize("text", [str(2**63), "9" * 5000], ids=["just", "far"])
def test_a_number_of_more_than_64_bits_is_refused(name, text):
    with pytest.raises(BadRequest, match="value out of range"):
        list_options(request(**{name: text}), "")


def test_a_version_of_more_than_64_bits_is_refused():
    with pytest.raises(ApiError, match="value out of range"):
        list_options(request(resourceVersion=str(2**64)), "")
    assert list_options(request(resourceVersion="0" * 5000 + "7"), "").version == 7


def test_a_limit_below_zero_limits_nothing():
    assert list_options(request(limit="-1", resourceVersion="5"), "") == ListOptions(version=5)


def test_initial_events_need_the_match():
    with pytest.raises(Invalid, match="sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"):
        check(request(sendInitialEvents="true"), watch=True)


@pytest.mark.parametrize("name", ["limit", "timeoutSeconds"])
def test_a_number_without_a_value_is_refused(name):
    with pytest.raises(BadRequest, match='parsing "": invalid syntax'):
        list_options(request(**{name: ""}), "")


def test_a_token_that_cannot_be_read_is_refused_before_versions_are_compared():
    with pytest.raises(BadRequest, match="invalid continue token"):
        list_options(request(resourceVersion="5", **{"continue": "x"}), "a/")


def test_a_watch_is_not_continued():
    with pytest.raises(Invalid, match="resourceVersionMatch is forbidden when continue is provided"):
        check(request(**{"continue": "x"}), watch=True)


def test_a_watch_from_a_version_pays_no_heed_to_a_token():
    check(request(resourceVersion="5", **{"continue": "x"}), watch=True)


def test_a_match_of_a_watch_is_checked_without_initial_events_too():
    with pytest.raises(Invalid, match=r"\[.*unless sendInitialEvents is provided, .*Unsupported value: \"Bogus\""):
        check(request(resourceVersionMatch="Bogus"), watch=True)
