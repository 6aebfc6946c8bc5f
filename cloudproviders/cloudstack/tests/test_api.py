"""Commands, lists and jobs: what is believed, what is waited for, and that nothing shows a secret."""

from __future__ import annotations

import pytest
from cloudstack_stack import KEY, SECRET, ClockThatSleeps, Stack
from hyperkube_cloud.cloudstack.api import Api, NoSuchThing
from hyperkube_cloud.cloudstack.config import CloudStackConfig
from hyperkube_lib.cloud_provider.rest import Refused
from hyperkube_testing.rest_cloud import answer

from hyperkube.hookspecs.cloud import CloudFailed, CloudThrottled, CloudUnavailable, RetryLater

CONFIG = CloudStackConfig(api_url="https://cloud.example/client/api", api_key=KEY, secret_key=SECRET)


def api(double, clock=None):
    return Api(double, CONFIG, clock or ClockThatSleeps())


def said(command, content, status=200):
    return answer(status, {f"{command.lower()}response": content})


def refused(command, code, text="no", status=None):
    return said(command, {"uuidList": [], "errorcode": code, "cserrorcode": 9999, "errortext": text}, status or code)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (401, CloudUnavailable),
        (429, CloudThrottled),
        (430, Refused),
        (431, Refused),
        (530, CloudUnavailable),
        (531, Refused),
        (533, Refused),
        (537, Refused),
    ],
)
def test_a_refusal_is_of_this_one_thing_or_says_that_the_cloud_is_not_well(code, kind):
    double, words = Stack(), "key or signature are refused" if code == 401 else "no"
    double.answer_next(refused("listNetworks", code))

    with pytest.raises(kind, match=f"^listNetworks: {code} {code}: {words}$") as raised:
        api(double).call("listNetworks")

    assert type(raised.value) is kind


def test_a_refusal_in_an_answer_that_is_well_is_one_too():
    double = Stack()
    double.answer_next(refused("listNetworks", 531, "You do not have permission", status=200))

    with pytest.raises(Refused, match="531: You do not have permission"):
        api(double).call("listNetworks")


@pytest.mark.parametrize(
    "content", [b"<html>", b"[]", b'{"other": {}}', b'{"listnetworksresponse": 5}', b"[" * 100_000]
)
def test_an_answer_that_is_not_cloudstacks_is_none(content):
    double = Stack()
    double.answer_next(answer(200, content))

    with pytest.raises(CloudUnavailable, match="listNetworks: answered with what is not CloudStack's"):
        api(double).listed("listNetworks", "network")


def test_nothing_of_an_id_is_nothing_and_a_wrong_project_is_not():
    text = "Invalid parameter {} value=n-9 due to incorrect long value format, or entity does not exist or due to"
    double = Stack()

    double.answer_next(refused("listNetworks", 431, text.format("id")))
    assert api(double).find("listNetworks", "network", "n-9") is None
    double.answer_next(refused("listNetworks", 431, text.format("projectid")))
    with pytest.raises(NoSuchThing):
        api(double).find("listNetworks", "network", "n-9")
    double.answer_next(said("listNetworks", {"count": 1, "network": [{"id": "n-1"}]}))
    with pytest.raises(CloudUnavailable, match="another network than was asked for"):
        api(double).find("listNetworks", "network", "n-9")


def test_a_list_is_read_over_all_pages_of_the_size_that_the_server_takes():
    double = Stack(page=2)
    for number in range(5):
        double.machine(f"node-{number}")

    found = api(double).listed("listVirtualMachines", "virtualmachine")

    assert [row["name"] for row in found] == [f"node-{number}" for number in range(5)]
    assert [(body.get("page"), body.get("pagesize")) for _, _, body in double.sent] == [
        (None, None),
        ("2", "2"),
        ("3", "2"),
    ]


def test_a_list_without_an_end_is_no_list():
    double = Stack()
    page = said("listNetworks", {"count": 10**9, "network": [{"id": f"n-{number}"} for number in range(200)]})

    with double.answering(page), pytest.raises(CloudUnavailable, match="listNetworks: the list has more than"):
        api(double).listed("listNetworks", "network")


def test_a_job_is_waited_for_and_its_failure_told():
    double, clock = Stack(), ClockThatSleeps()
    pending = said("queryAsyncJobResult", {"jobid": "j", "jobstatus": 0})
    begun = said("deleteNetworkACL", {"jobid": "j"})

    double.answer_next(
        begun, pending, pending, said("queryAsyncJobResult", {"jobstatus": 1, "jobresult": {"success": True}})
    )
    assert api(double, clock).run("deleteNetworkACL", id="a") == {"jobid": "j", "success": True}
    assert clock.monotonic() == 4
    failed = {"jobstatus": 2, "jobresult": {"errorcode": 530, "errortext": "the router is stopped"}}
    double.answer_next(begun, said("queryAsyncJobResult", failed))
    with pytest.raises(CloudFailed, match="deleteNetworkACL: its job failed: 530: the router is stopped"):
        api(double).run("deleteNetworkACL", id="a")
    double.answer_next(begun, *[pending] * 40)
    with pytest.raises(RetryLater, match="its job j has not ended yet"):
        api(double).run("deleteNetworkACL", id="a")


@pytest.mark.parametrize(
    "content",
    [{"success": "true"}, {"jobid": 7}],
    ids=["no job", "a number"],
)
def test_a_command_without_a_job_was_not_understood(content):
    double = Stack()
    double.answer_next(said("deleteNetworkACL", content))

    with pytest.raises(CloudUnavailable, match="answered with no job"):
        api(double).run("deleteNetworkACL", id="a")


def test_a_job_without_a_status_is_not_taken_for_one_that_is_under_way():
    double = Stack()
    double.answer_next(said("deleteNetworkACL", {"jobid": "j"}), said("queryAsyncJobResult", {}))

    with pytest.raises(CloudUnavailable, match="its job j has no result"):
        api(double).run("deleteNetworkACL", id="a")


def test_no_error_shows_a_key_a_secret_or_a_signature():
    double, told = Stack(), []
    for reply in (
        refused("listNetworks", 401, f"wrong: {KEY}"),
        answer(500, b"x"),
        answer(200, b"<html>"),
        answer(302, b"", location="x"),
    ):
        double.answer_next(reply)
        with pytest.raises(CloudFailed) as raised:
            api(double).call("listNetworks", id="n-1")
        told.append(f"{raised.value!r} {raised.value.__cause__} {vars(raised.value)}")

    assert not any(word in text for text in told for word in (KEY, SECRET, "signature=", "apiKey"))
