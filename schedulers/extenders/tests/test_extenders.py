"""Extenders over real HTTP on the loopback: filter, prioritize, bind, and what happens when they fail."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import orjson
import pytest
from hyperkube_scheduler import extenders
from hyperkube_scheduler.extenders import Extenders
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.hookspecs.scheduling import Victims
from hyperkube.machinery.errors import InternalError, UsageError
from hyperkube.plugin import PluginContext


class Answers(BaseHTTPRequestHandler):
    """Refuses node b, likes node c, binds whatever it is told."""

    seen: ClassVar[list] = []

    def do_POST(self):
        body = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((self.path, body))
        names = body.get("nodenames") or [each["metadata"]["name"] for each in body.get("nodes", {}).get("items", [])]
        if self.path == "/x/filter":
            kept = [name for name in names if name != "b"]
            items = [{"metadata": {"name": name}} for name in kept]
            answer = {"nodenames": kept} if "nodenames" in body else {"nodes": {"items": items}}
            answer["failedNodes"] = {"b": "not b"}
        elif self.path == "/x/prioritize":
            answer = [{"host": name, "score": 10 if name == "c" else 1} for name in names]
        elif self.path == "/x/preempt":
            asked = body.get("nodeNameToVictims") or body["nodeNameToMetaVictims"]
            uids = {
                name: [each.get("uid") or each["metadata"]["uid"] for each in row["pods"]]
                for name, row in asked.items()
            }
            answer = {
                "NodeNameToMetaVictims": {
                    name: {"pods": [{"uid": uid} for uid in rows], "numPDBViolations": 1}
                    for name, rows in uids.items()
                    if name != "b"
                }
            }
        else:
            answer = {} if body.get("node") != "broken" else {"error": "no"}
        data = orjson.dumps(answer)
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args):
        """Say nothing."""


@pytest.fixture
def url():
    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/x"
    server.shutdown()
    thread.join()
    server.server_close()


def build(*rows):
    return Extenders(PluginContext(name="Extenders", settings={"extenders": rows}))


def world():
    nodes = table({"name": "a"}, {"name": "b"}, {"name": "c"})
    return nodes, pod_info({}, nodes)


@pytest.mark.parametrize("names_only", [True, False])
def test_filter_and_prioritize(url, names_only):
    row = {"urlPrefix": url, "filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 2}
    plugin = build({**row, "nodeCacheCapable": names_only})
    nodes, pod = world()

    kept = plugin.filter(pod, nodes)

    assert kept.mask.tolist() == [True, False, True]
    assert kept.reasons["not b"].tolist() == [False, True, False]
    assert plugin.score(pod, nodes).tolist() == [20, 20, 200]


def test_bind(url):
    plugin = build({"urlPrefix": url, "bindVerb": "bind"})
    _, pod = world()

    assert plugin.bind(pod, "a")
    with pytest.raises(InternalError, match="no"):
        plugin.bind(pod, "broken")


def victim(name):
    return {"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": {"containers": []}}


@pytest.mark.parametrize("names_only", [True, False])
def test_preempt(url, names_only):
    plugin = build({"urlPrefix": url, "preemptVerb": "preempt", "nodeCacheCapable": names_only})
    nodes, pod = world()
    choices = {}
    for name in ("a", "b"):
        nodes.put_pod(victim(f"on-{name}"), name)
        choices[name] = Victims([victim(f"on-{name}")])

    agreed = plugin.review(pod, nodes, choices)

    assert {
        name: ([each["metadata"]["name"] for each in row.pods], row.violations) for name, row in agreed.items()
    } == {"a": (["on-a"], 1)}


def test_victims_that_are_not_there_are_an_error(url):
    plugin = build({"urlPrefix": url, "preemptVerb": "preempt"})
    nodes, pod = world()

    with pytest.raises(InternalError, match=r"\(UID: &\{gone\}\) on node: a, but the pod is not found on that node"):
        plugin.review(pod, nodes, {"a": Victims([victim("gone")])})


def test_a_review_that_fails_is_ignored_where_it_may_be():
    row = {"urlPrefix": "http://127.0.0.1:9", "preemptVerb": "preempt", "httpTimeout": "1s"}
    nodes, pod = world()
    choices = {"a": Victims([victim("x")])}

    with pytest.raises(InternalError):
        build(row).review(pod, nodes, choices)
    assert build({**row, "ignorable": True}).review(pod, nodes, choices) == choices


def test_an_extender_that_is_away_refuses_all_unless_it_may_be_ignored():
    row = {"urlPrefix": "http://127.0.0.1:9", "filterVerb": "filter", "httpTimeout": "1s"}
    nodes, pod = world()

    assert not build(row).filter(pod, nodes).mask.any()
    assert build({**row, "ignorable": True}).filter(pod, nodes).mask.all()


def test_only_pods_with_its_resources_concern_it():
    managed = [{"name": "example.com/gpu"}]
    plugin = build({"urlPrefix": "http://127.0.0.1:9", "filterVerb": "filter", "managedResources": managed})
    nodes, pod = world()
    asks = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"example.com/gpu": "1"}}}]}}

    assert plugin.skips(pod)
    assert not plugin.skips(pod_info(asks, nodes))


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([{"filterVerb": "filter"}], id="no-address"),
        pytest.param([{"urlPrefix": "http://a", "prioritizeVerb": "p", "weight": -1}], id="weight"),
        pytest.param([{"urlPrefix": "http://a", "bindVerb": "b"}] * 2, id="two-binders"),
    ],
)
def test_a_bad_extender_is_refused(rows):
    with pytest.raises(UsageError, match="extenders"):
        build(*rows)


def test_an_answer_without_an_end_is_none(url, monkeypatch):
    monkeypatch.setattr(extenders, "MOST_BYTES", 10)
    nodes, pod = world()

    found = build({"urlPrefix": url, "filterVerb": "filter"}).filter(pod, nodes)

    assert not found.mask.any()
    assert [reason for reason in found.reasons if reason.endswith("the answer is longer than 10 bytes")]
