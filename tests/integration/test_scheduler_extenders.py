"""HTTP extenders through the real API server: they filter, prioritize, preempt and bind, over TLS too."""

from __future__ import annotations

import base64
import contextlib
import sys
from pathlib import Path

import orjson
import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))

from extender_server import NAME, ExtenderServer, names_in
from hyperkube_lib.serving.certificates import issue
from hyperkube_testing.cluster.cluster import ControlPlane
from scheduling_world import (
    NO_ACCOUNTS,
    SECONDS,
    add_node,
    add_pods,
    add_priorities,
    get,
    node_of,
    pod,
    remove,
    settled,
    wait_bound,
    wait_message,
)

from hyperkube.kinds.resources import PODS


@contextlib.contextmanager
def cluster_with(folder, *extenders, nodes=("a", "b", "c"), policy=False):
    kind = (
        {"kind": "Policy", "apiVersion": "v1"}
        if policy
        else {"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1"}
    )
    path = folder / "scheduler.json"
    path.write_bytes(orjson.dumps({**kind, "extenders": list(extenders)}))
    options = {"policy-config-file" if policy else "config": str(path)}
    with ControlPlane(controller_manager=None, apiserver=NO_ACCOUNTS, scheduler=options) as cluster:
        for name in nodes:
            add_node(cluster, name, cpu="4")
        if nodes:
            settled(cluster, len(nodes))
        yield cluster


def keep(*kept):
    def answer(body):
        names = names_in(body)
        left = [name for name in names if name in kept]
        items = [{"metadata": {"name": name}} for name in left]
        return {
            **({"nodenames": left} if "nodenames" in body else {"nodes": {"items": items}}),
            "failedNodes": {name: "not chosen" for name in names if name not in kept},
        }

    return answer


def like(liked):
    return lambda body: [{"host": name, "score": 10 * (name == liked)} for name in names_in(body)]


@pytest.mark.parametrize("names_only", [True, False], ids=["names", "nodes"])
def test_extenders_filter_and_prioritize_what_the_plugins_leave(tmp_path, names_only):
    with ExtenderServer(filter=keep("b", "c"), prioritize=like("c")) as server:
        row = {"urlPrefix": server.url, "filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 50}
        with cluster_with(tmp_path, {**row, "nodeCacheCapable": names_only}, nodes=("a", "b", "c", "full")) as cluster:
            add_pods(cluster, pod("filler", "4", nodeName="full"), pod("wanted", "2"))
            placed = wait_bound(cluster, "wanted")

    assert placed == ["c"]
    assert sorted(names_in(server.about("filter")[0])) == ["a", "b", "c"]
    assert sorted(names_in(server.about("prioritize")[0])) == ["b", "c"]
    assert ("nodenames" in server.about("filter")[0]) is names_only


def test_a_refusal_says_what_the_extender_said(tmp_path):
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(ExtenderServer(filter=keep()))
        row = {"urlPrefix": server.url, "filterVerb": "filter"}
        cluster = stack.enter_context(cluster_with(tmp_path, row, nodes=("a", "b")))
        add_pods(cluster, pod("nowhere"))
        said = wait_message(cluster, "nowhere", "not chosen")

    assert said.startswith("0/2 nodes are available: 2 not chosen.")


def test_an_extender_binds_and_is_away_without_harm_if_it_may(tmp_path):
    def bind(body):
        target = {"kind": "Node", "name": body["node"]}
        meta = {"name": body["podName"], "namespace": body["podNamespace"], "uid": body["podUID"]}
        cluster.client.create(
            PODS, {"metadata": meta, "target": target}, meta["namespace"], name=meta["name"], subresource="binding"
        )
        return {}

    away = {"urlPrefix": "http://127.0.0.1:9", "filterVerb": "filter", "httpTimeout": "1s", "ignorable": True}
    with ExtenderServer(bind=bind) as server:
        binder = {"urlPrefix": server.url, "bindVerb": "bind", "managedResources": [{"name": "example.com/gpu"}]}
        with cluster_with(tmp_path, away, binder, nodes=()) as cluster:
            add_node(cluster, "a", **{"example.com/gpu": "2"})
            special = pod("special")
            special["spec"]["containers"][0]["resources"]["limits"] = {"example.com/gpu": "1"}
            special["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = "1"
            add_pods(cluster, special, pod("plain"))
            placed = wait_bound(cluster, "special", "plain")

    assert placed == ["a", "a"]
    assert [body["podName"] for body in server.about("bind")] == ["special"]


def test_what_an_extender_manages_may_be_ignored_by_the_scheduler(tmp_path):
    with ExtenderServer(filter=keep("b")) as server:
        managed = [{"name": "example.com/gpu", "ignoredByScheduler": True}]
        row = {"urlPrefix": server.url, "filterVerb": "filter", "managedResources": managed}
        with cluster_with(tmp_path, row, nodes=("a", "b")) as cluster:
            special = pod("special")
            resources = special["spec"]["containers"][0]["resources"]
            resources["limits"] = {"example.com/gpu": "5"}
            resources["requests"]["example.com/gpu"] = "5"
            add_pods(cluster, special)
            placed = wait_bound(cluster, "special")

    assert placed == ["b"]


def test_an_extender_has_a_say_in_who_is_evicted(tmp_path):
    def preempt(body):
        rows = body["nodeNameToVictims"]
        short = {
            node: {"pods": [{"uid": each["metadata"]["uid"]} for each in row["pods"]], "numPDBViolations": 0}
            for node, row in rows.items()
            if node != "cheap"
        }
        return {"nodeNameToMetaVictims": short}

    with ExtenderServer(preempt=preempt) as server:
        row = {"urlPrefix": server.url, "preemptVerb": "preempt"}
        with cluster_with(tmp_path, row, nodes=("cheap", "dear")) as cluster:
            add_priorities(cluster, low=1, middle=10, high=1000)
            add_pods(
                cluster,
                pod("spared", "4", priorityClassName="low", nodeName="cheap"),
                pod("victim", "4", priorityClassName="middle", nodeName="dear"),
                pod("important", "4", priorityClassName="high"),
            )
            cluster.wait(lambda: get(cluster, "victim")["metadata"].get("deletionTimestamp"), "the eviction", SECONDS)
            remove(cluster, "victim")
            placed = wait_bound(cluster, "important")
            spared = node_of(cluster, "spared")

    assert (placed, spared) == (["dear"], "cheap")
    assert sorted(server.about("preempt")[0]["nodeNameToVictims"]) == ["cheap", "dear"]


@pytest.mark.parametrize("policy", [False, True], ids=["configuration", "policy"])
def test_over_tls_both_sides_show_certificates(tmp_path, policy):
    with ExtenderServer(tmp_path, filter=keep("b")) as server:
        pair = issue(server.authority, "system:kube-scheduler", client=True)
        encode = lambda data: base64.b64encode(data).decode()  # noqa: E731  one word for three fields
        tls = {
            "serverName": NAME,
            "caData": encode(server.authority.certificate),
            "certData": encode(pair.certificate),
            "keyData": encode(pair.key),
        }
        words = {"enableHttps": True, "httpTimeout": 30_000_000_000} if policy else {"enableHTTPS": True}
        row = {"urlPrefix": server.url, "filterVerb": "filter", "tlsConfig": tls, **words}
        with cluster_with(tmp_path, row, policy=policy) as cluster:
            add_pods(cluster, pod("wanted"))
            placed = wait_bound(cluster, "wanted")

    assert placed == ["b"]
