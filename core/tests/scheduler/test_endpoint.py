"""Explanations over HTTP: beside the endpoints that every server has."""

import orjson

from hyperkube.scheduler.endpoint import EXPLAIN_PATH, WithExplanations
from hyperkube.serving.endpoints import ServerEndpoints
from hyperkube.serving.exchange import HttpRequest


class Knows:
    def explain(self, key):
        return {"pod": key, "node": "a"} if key == "default/web" else None


def ask(path, query=""):
    handler = WithExplanations(Knows(), ServerEndpoints())
    request = HttpRequest(method="GET", path=path, raw_path=path, query_string=query, headers={}, body=b"")
    return handler.handle(request)


def test_a_known_decision_is_answered():
    answer = ask(EXPLAIN_PATH, "pod=default%2Fweb")

    assert answer.status == 200
    assert orjson.loads(answer.body) == {"pod": "default/web", "node": "a"}


def test_an_unknown_one_is_not_found():
    assert ask(EXPLAIN_PATH, "pod=default/other").status == 404


def test_health_is_answered_as_ever():
    assert ask("/healthz").status == 200
