"""The pages for people: what runs since when, and with what flags."""

from __future__ import annotations

import pytest

from hyperkube.machinery.clock import FakeClock
from hyperkube.serving.exchange import HttpRequest
from hyperkube.serving.zpages import Zpages


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def pages(clock):
    flags = {"v": "2", "leader-elect": "true"}
    return Zpages("kube-scheduler", clock, flags, lambda: ["/healthz", "/healthz/ping", "/metrics"])


def get(pages, path, accept="*/*"):
    return pages.answer(HttpRequest(method="GET", path=path, headers={"accept": accept}))


def test_the_status_tells_since_when_and_what(pages, clock):
    clock.advance(2 * 3600 + 3 * 60 + 4)

    text = get(pages, "/statusz").body.decode()
    assert text.startswith("\nkube-scheduler statusz\nWarning: This endpoint is not meant to be machine parseable")
    assert "Up: 2 hr 03 min 04 sec\n" in text
    assert "Binary version: 1.36.2\n" in text
    assert "Paths: /healthz /metrics\n" in text


def test_flags_are_sorted_one_to_a_line(pages):
    lines = get(pages, "/flagz").body.decode().splitlines()

    assert lines[1] == "kube-scheduler flagz"
    assert lines[4:] == ["leader-elect=true", "v=2"]


@pytest.mark.parametrize(("accept", "status"), [("", 200), ("text/plain", 200), ("application/json", 406)])
def test_text_is_all_that_there_is(pages, accept, status):
    assert get(pages, "/statusz", accept).status == status


def test_other_paths_are_not_theirs(pages):
    assert get(pages, "/metrics") is None


def test_a_gate_closes_a_page(clock):
    pages = Zpages("kube-scheduler", clock, {}, list, {"ComponentFlagz": False})

    assert get(pages, "/flagz") is None
    assert get(pages, "/statusz").status == 200
