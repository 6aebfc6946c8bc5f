"""Explanations over HTTP: beside the endpoints that every server has."""

import orjson
from hyperkube_host.scheduler.endpoint import EXPLAIN_PATH, with_explanations
from hyperkube_lib.serving.endpoints import ServerEndpoints
from hyperkube_lib.serving.exchange import HttpRequest


class Knows:
    def explain(self, key):
        return {"pod": key, "node": "a"} if key == "default/web" else None

    def pods(self):
        container = {"resources": {"requests": {"cpu": "250m", "memory": "1Gi"}, "limits": {"example.com/gpu": "2"}}}
        spec = {"nodeName": "a", "schedulerName": "mine", "priority": 7, "containers": [container]}
        web = {"metadata": {"name": "web", "namespace": "default"}, "spec": spec}
        done = {"metadata": {"name": "done", "namespace": "default"}, "spec": spec, "status": {"phase": "Succeeded"}}
        waits = {"metadata": {"name": "waits", "namespace": "default"}, "spec": {"containers": [container]}}
        return [web, done, waits]


def ask(path, query=""):
    handler = with_explanations(Knows(), ServerEndpoints())
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


def test_what_pods_ask_for_is_told_one_by_one_until_they_end():
    lines = [line for line in ask("/metrics/resources").body.decode().splitlines() if not line.startswith("#")]
    web = 'namespace="default",pod="web",node="a",scheduler="mine",priority="7"'

    assert [line for line in lines if "web" in line] == [
        f'kube_pod_resource_request{{{web},resource="cpu",unit="cores"}} 0.25',
        f'kube_pod_resource_request{{{web},resource="memory",unit="bytes"}} 1073741824',
        f'kube_pod_resource_limit{{{web},resource="example.com/gpu",unit=""}} 2',
    ]
    assert not [line for line in lines if "done" in line]
    assert len([line for line in lines if 'pod="waits",node="",scheduler="",priority=""' in line]) == 3


def test_health_checks_are_counted():
    assert b"# TYPE kubernetes_healthcheck gauge" in ask("/metrics/slis").body
