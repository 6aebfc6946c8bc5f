"""The resource metrics API, as clients see it."""

import logging

import orjson
import pytest
from hyperkube_addon.metrics_server.decode import MetricsBatch, MetricsPoint
from hyperkube_addon.metrics_server.handler import MetricsHandler, Target, target_of
from hyperkube_addon.metrics_server.scraper import Scraper, serves
from hyperkube_addon.metrics_server.storage import MetricsStorage
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.client.client import RawResponse
from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.users import UserInfo

BASE = "/apis/metrics.k8s.io/v1beta1"


class Authentication:
    def authenticate(self, request):
        return UserInfo(request.headers.get("user", "reader"), "", ())


class Authorization:
    """Lets `reader` do everything, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def allows(self, user, **wanted):
        self.asked.append(wanted)
        return user.name == "reader"


@pytest.fixture
def storage():
    made = MetricsStorage(15.0)
    for at, cpu in ((1000.0, 1.0), (1015.0, 4.0)):
        point = MetricsPoint(at, cpu, 64 << 20)
        made.store([MetricsBatch(nodes={"n": point}, pods={("default", "p"): {"b": point, "a": point}})])
    return made


@pytest.fixture
def authorization():
    return Authorization()


@pytest.fixture
def ask(storage, authorization):
    clock = FakeClock()
    client = FakeClient(clock)
    client.seed(NODES, {"metadata": {"name": "n", "labels": {"zone": "a"}}}, {"metadata": {"name": "silent"}})
    client.seed(
        PODS,
        {"metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}}},
        {"metadata": {"name": "new", "namespace": "default"}},
    )
    handler = MetricsHandler(storage, client, clock, Authentication(), authorization)

    def call(path, query="", method="GET", **headers):
        answer = handler.handle(HttpRequest(method=method, path=path, query_string=query, headers=headers))
        return answer.status, orjson.loads(answer.body) if answer.body.startswith(b"{") else answer.body

    return call


def test_all_nodes_that_are_known(ask):
    status, body = ask(f"{BASE}/nodes")

    assert status == 200
    assert (body["kind"], body["apiVersion"]) == ("NodeMetricsList", "metrics.k8s.io/v1beta1")
    (row,) = body["items"]
    assert row["metadata"]["name"] == "n"
    assert row["metadata"]["labels"] == {"zone": "a"}
    assert row["usage"] == {"cpu": "200m", "memory": "64Mi"}
    assert (row["timestamp"], row["window"]) == ("1970-01-01T00:16:55Z", "15s")


def test_one_pod_with_its_containers(ask):
    status, body = ask(f"{BASE}/namespaces/default/pods/p")

    assert status == 200
    assert body["kind"] == "PodMetrics"
    assert [container["name"] for container in body["containers"]] == ["a", "b"]
    assert body["metadata"]["namespace"] == "default"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/namespaces/default/pods/new", 'podmetrics.metrics.k8s.io "default/new" not found'),
        ("/namespaces/default/pods/no", 'podmetrics.metrics.k8s.io "default/no" not found'),
        ("/nodes/silent", 'nodemetrics.metrics.k8s.io "silent" not found'),
    ],
)
def test_what_is_not_known_is_not_found(ask, path, message):
    status, body = ask(BASE + path)

    assert (status, body["message"]) == (404, message)


def test_label_selectors_choose_pods(ask):
    assert len(ask(f"{BASE}/pods", "labelSelector=app%3Dweb")[1]["items"]) == 1
    assert ask(f"{BASE}/pods", "labelSelector=app%3Dother")[1]["items"] == []


def test_a_table_sums_the_containers(ask):
    _, body = ask(f"{BASE}/pods", accept="application/json;as=Table;v=v1;g=meta.k8s.io")

    assert [column["name"] for column in body["columnDefinitions"]] == ["Name", "cpu", "memory", "Window"]
    assert [row["cells"] for row in body["rows"]] == [["p", "400m", "128Mi", "15s"]]


def test_who_may_not_is_told_what(ask, authorization):
    status, body = ask(f"{BASE}/namespaces/default/pods", user="stranger")

    assert status == 403
    assert body["message"] == (
        'pods.metrics.k8s.io is forbidden: User "stranger" cannot list resource "pods"'
        ' in API group "metrics.k8s.io" in the namespace "default"'
    )
    assert authorization.asked[-1]["resource"]["namespace"] == "default"


def test_writes_and_watches_are_refused(ask):
    assert ask(f"{BASE}/nodes", method="DELETE")[0] == 405
    assert ask(f"{BASE}/nodes", "watch=1")[0] == 405


def test_discovery_names_both_resources(ask):
    assert [row["name"] for row in ask(BASE)[1]["resources"]] == ["nodes", "pods"]
    assert ask("/apis")[1]["groups"][0]["name"] == "metrics.k8s.io"
    assert ask("/apis/metrics.k8s.io")[1]["kind"] == "APIGroup"
    assert ask("/nowhere")[0] == 404


def test_health_is_open_and_ready_once_something_is_known(ask, storage):
    assert ask("/readyz", user="stranger") == (200, b"ok")

    storage.store([])

    assert ask("/readyz")[0] == 500
    assert ask("/livez")[0] == 200


@pytest.mark.parametrize(
    ("path", "target"),
    [
        (f"{BASE}/nodes", Target("nodes", "", "")),
        (f"{BASE}/nodes/n", Target("nodes", "", "n")),
        (f"{BASE}/pods", Target("pods", "", "")),
        (f"{BASE}/namespaces/a/pods/p", Target("pods", "a", "p")),
        (f"{BASE}/namespaces/a/secrets", None),
        ("/apis/other/v1/nodes", None),
    ],
)
def test_paths_name_targets(path, target):
    assert target_of(path) == target


def test_a_scrape_leaves_out_nodes_that_do_not_answer(caplog):
    clock = FakeClock()
    client = FakeClient(clock)
    serving = {"daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}}
    for name in ("good", "bad"):
        client.seed(NODES, {"metadata": {"name": name}, "status": serving})
    client.seed(NODES, {"metadata": {"name": "simulated"}, "status": {}})
    text = b"node_cpu_usage_seconds_total 1\nnode_memory_working_set_bytes 2\n"
    client.answer("GET", "/api/v1/nodes/good/proxy/metrics/resource", lambda _: RawResponse(200, {}, text))
    client.answer("GET", "/api/v1/nodes/bad/proxy/metrics/resource", lambda _: RawResponse(502, {}, b""))
    scraper = Scraper(client, clock, logging.getLogger("test"))

    scraper.scrape()
    batches = scraper.scrape()

    assert [list(batch.nodes) for batch in batches] == [["good"]]
    assert [record.getMessage() for record in caplog.records] == ["cannot scrape node bad: request failed, status: 502"]
    assert not serves({"status": {}})
