"""The pages of OpenAPI version 3: JSON or protobuf as the client accepts, by hash or without."""

from types import SimpleNamespace

import pytest
from hyperkube_host.apiserver.openapi import NoDescriptions
from hyperkube_host.apiserver.routes.openapi import OpenApiPages

BINARY = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
PATH = "/openapi/v3/version"


@pytest.fixture
def pages():
    registry = SimpleNamespace(resources=list, on_change=lambda _call: None)
    return OpenApiPages(registry, "v1.2.3", NoDescriptions)


def ask(pages, accept="", **headers):
    request = SimpleNamespace(path=PATH, method="GET", headers={"accept": accept, **headers}, param=lambda _name: "")
    return pages.answer(request)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        pytest.param("", "application/json", id="nothing said"),
        pytest.param("*/*", "application/json", id="anything"),
        pytest.param(BINARY, BINARY, id="protobuf"),
        pytest.param(BINARY.replace("v3.v1", "v3@v1"), BINARY, id="by its other name"),
        pytest.param(f"application/json;q=0.5, {BINARY}", BINARY, id="the most wanted"),
        pytest.param(f"{BINARY};q=0.1, application/json", "application/json", id="the least wanted"),
    ],
)
def test_the_accepted_form_is_answered(pages, accept, expected):
    answer = ask(pages, accept)

    assert answer.status == 200
    assert dict(answer.headers)["Content-Type"] == expected


def test_both_forms_have_one_hash(pages):
    answers = [dict(ask(pages, accept).headers)["Etag"] for accept in ("", BINARY)]

    assert answers[0] == answers[1]


def test_protobuf_is_the_same_again(pages):
    assert ask(pages, BINARY).body == ask(pages, BINARY).body != ask(pages).body


def test_what_is_not_offered_is_not_acceptable(pages):
    assert ask(pages, "text/html").status == 406


def test_a_client_that_has_it_gets_nothing(pages):
    etag = dict(ask(pages).headers)["Etag"]

    assert ask(pages, BINARY, **{"if-none-match": etag}).status == 304
