"""/statusz and /flagz: text for people, the whole kind for programs."""

from datetime import UTC, datetime

import orjson
import pytest
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_lib.serving.zpages import FLAGZ, STATUSZ, Zpages, unix_date, wanted_form

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import NotAcceptable

STRUCTURED = "application/json;v=v1beta1;g=config.k8s.io;as=Statusz"
PATHS = ["/", "/api/v1", "/healthz", "/livez/ping", "/livez/log", "/openapi/v2", "/version"]


@pytest.fixture
def clock():
    return FakeClock(datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC))


@pytest.fixture
def pages(clock):
    return Zpages("kube-x", clock, {"b": "2", "a": "true"}, lambda: PATHS)


def ask(pages, path, accept=""):
    return pages.answer(HttpRequest(method="GET", path=path, headers={"accept": accept}))


def test_statusz_says_since_when_what_runs(pages, clock):
    clock.advance(3725)

    answer = ask(pages, "/statusz")

    lines = answer.body.decode().splitlines()
    assert lines[:2] == ["", "kube-x statusz"]
    assert lines[4:6] == ["Started: Wed Mar  4 05:06:07 UTC 2026", "Up: 1 hr 02 min 05 sec"]
    assert lines[-1] == "Paths: /healthz /livez /version"
    assert ("Content-Type", "text/plain; charset=utf-8") in answer.headers


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1"])
def test_statusz_is_an_object_for_who_names_its_kind(pages, clock, version):
    clock.advance(5)

    answer = ask(pages, "/statusz", STRUCTURED.replace("v1beta1", version))

    body = orjson.loads(answer.body)
    assert (body["kind"], body["apiVersion"]) == ("Statusz", f"config.k8s.io/{version}")
    assert body["metadata"] == {"name": "kube-x"}
    assert (body["startTime"], body["uptimeSeconds"]) == ("2026-03-04T05:06:07Z", 5)
    assert body["paths"] == ["/healthz", "/livez", "/version"]


def test_flagz_lists_the_flags_by_name(pages):
    text, structured = ask(pages, "/flagz"), ask(pages, "/flagz", STRUCTURED.replace("Statusz", "Flagz"))

    assert text.body.decode().splitlines()[-2:] == ["a=true", "b=2"]
    assert orjson.loads(structured.body)["flags"] == {"a": "true", "b": "2"}


def test_a_gate_takes_a_page_away(clock):
    assert Zpages("x", clock, {}, list, {"ComponentStatusz": False}).offered == (FLAGZ,)
    assert Zpages("x", clock, {}, list, {"ComponentFlagz": False}).offered == (STATUSZ,)


def test_without_flags_there_is_no_page_of_them(clock):
    pages = Zpages("x", clock, None, list)

    assert pages.offered == (STATUSZ,)
    assert ask(pages, "/flagz") is None


def test_other_paths_are_not_theirs(pages):
    assert ask(pages, "/metrics") is None


def test_what_is_not_offered_is_refused_with_a_status(pages):
    answer = ask(pages, "/statusz", "application/json")

    assert (answer.status, orjson.loads(answer.body)["reason"]) == (406, "NotAcceptable")


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", ("text/plain", "")),
        ("*/*", ("text/plain", "")),
        ("text/plain;charset=utf-8", ("text/plain", "")),
        (STRUCTURED, ("application/json", "v1beta1")),
        (STRUCTURED.replace("json", "yaml"), ("application/yaml", "v1beta1")),
        ("application/json;v=foo;g=config.k8s.io;as=Statusz,*/*", ("text/plain", "")),
    ],
)
def test_the_accept_header_chooses_the_form(accept, form):
    assert wanted_form(accept, "Statusz") == form


@pytest.mark.parametrize(
    "accept",
    [
        "application/json",
        "application/xml",
        "application/json;v=v1beta1;g=config.k8s.io",
        STRUCTURED.replace("Statusz", "Flagz"),
        STRUCTURED.replace("v1beta1", "v1"),
        STRUCTURED.replace("application/json", "text/plain"),
        STRUCTURED.replace("json", "vnd.kubernetes.protobuf"),
    ],
)
def test_half_a_kind_is_not_acceptable(accept):
    with pytest.raises(NotAcceptable, match="only the following media types are accepted: application/json"):
        wanted_form(accept, "Statusz")


def test_a_moment_is_written_in_utc():
    assert unix_date(datetime(2024, 10, 16, 21, 3, 43, tzinfo=UTC)) == "Wed Oct 16 21:03:43 UTC 2024"
