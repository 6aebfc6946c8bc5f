"""Objects as text, nodes as figures, roles as subjects, revisions by halving."""

import pytest
from hyperkube_lib.console.grants import grants
from hyperkube_lib.console.node_use import node_uses
from hyperkube_lib.console.pages.pod import containers_of, scored
from hyperkube_lib.console.pages.simulation import drawn
from hyperkube_lib.console.pages.timeline import oldest
from hyperkube_lib.console.yaml_text import difference, editable, read_edited
from hyperkube_lib.rbac_explanation import Policy, Question, user_named

from hyperkube.machinery.errors import UsageError

DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "demo", "uid": "u", "resourceVersion": "5", "managedFields": [{}]},
    "spec": {"replicas": 2},
    "status": {"replicas": 2},
}


def test_what_the_server_sets_is_not_edited():
    text = editable(DEPLOYMENT)

    assert "replicas: 2" in text
    assert "status" not in text
    assert "uid" not in text
    assert "managedFields" not in text
    assert read_edited(text, "Deployment", "web", "demo")["spec"] == {"replicas": 2}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: [", id="no YAML"),
        pytest.param("just a word", id="no object"),
        pytest.param("kind: Deployment\nmetadata: {name: other, namespace: demo}", id="another name"),
        pytest.param("kind: Pod\nmetadata: {name: web, namespace: demo}", id="another kind"),
        pytest.param("kind: Deployment\nmetadata: {name: web}", id="another namespace"),
    ],
)
def test_an_edit_stays_with_its_object(text):
    with pytest.raises(UsageError):
        read_edited(text, "Deployment", "web", "demo")


def test_a_difference_is_told_by_lines():
    after = {**DEPLOYMENT, "spec": {"replicas": 3}}

    lines = difference(DEPLOYMENT, after)

    assert ("del", "-  replicas: 2") in lines
    assert ("add", "+  replicas: 3") in lines
    assert difference(DEPLOYMENT, DEPLOYMENT) == []


def test_requests_and_use_are_shares_of_a_node():
    node = {
        "metadata": {"name": "n"},
        "status": {
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
    spec = {"nodeName": "n", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1500m"}}}]}
    pods = [{"spec": spec}, {"spec": spec, "status": {"phase": "Succeeded"}}, {"spec": {**spec, "nodeName": "m"}}]
    metrics = [{"metadata": {"name": "n"}, "usage": {"cpu": "100000000n", "memory": "4Gi"}}]

    (tile,) = node_uses([node], pods, metrics)

    assert tile.is_ready
    cpu, memory = tile.shares["cpu"], tile.shares["memory"]
    assert (cpu.requested, cpu.percent(cpu.requested), cpu.step(cpu.requested)) == (1.5, "38%", 4)
    assert memory.percent(memory.used) == "50%"
    assert tile.shares["pods"].requested == 1
    assert cpu.step(100.0) == 10


def test_without_metrics_use_is_unknown():
    (tile,) = node_uses([{"metadata": {"name": "n"}, "status": {}}], [], [])

    assert tile.shares["cpu"].percent(tile.shares["cpu"].used) == "-"
    assert not tile.is_ready


ROLE = {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}


def test_who_may_is_every_subject_of_a_role_that_allows_it():
    reads = {"metadata": {"name": "reads"}, **ROLE}
    everywhere = {
        "metadata": {"name": "everywhere"},
        "roleRef": {"kind": "ClusterRole", "name": "reads"},
        "subjects": [{"kind": "User", "name": "ada"}],
    }
    here = {
        "metadata": {"name": "here", "namespace": "demo"},
        "roleRef": {"kind": "ClusterRole", "name": "reads"},
        "subjects": [{"kind": "ServiceAccount", "name": "app"}],
    }
    policy = Policy(cluster_roles=[reads], cluster_bindings=[everywhere], bindings=[here])
    user = user_named("nobody", [])

    def names(**words):
        return [each.name for each in grants(policy, Question(user=user, resource="pods", **words))]

    assert names(verb="get", namespace="demo") == ["demo/app", "ada"]
    assert names(verb="get", namespace="other") == ["ada"]
    assert names(verb="delete", namespace="demo") == []


@pytest.mark.parametrize("first", [1, 2, 17, 99, 100])
def test_the_oldest_revision_is_found_by_halving(first):
    asked = []

    assert oldest(100, lambda revision: asked.append(revision) or revision >= first) == first
    assert len(asked) <= 7


def test_a_decision_has_its_best_node_first():
    found = {
        "pod": "demo/web",
        "node": "b",
        "nodes": [
            {"node": "c", "refused": [{"plugin": "Fit", "reason": "Insufficient cpu"}]},
            {"node": "a", "total": 10, "scores": [{"plugin": "Spread", "score": 10, "weight": 1}]},
            {"node": "b", "total": 30, "scores": [{"plugin": "Spread", "score": 15, "weight": 2}]},
        ],
    }

    table = scored(found)

    assert [row["node"] for row in table["rows"]] == ["b", "a", "c"]
    assert [row["chosen"] for row in table["rows"]] == [True, False, False]
    assert table["plugins"] == ["Spread"]


def test_containers_tell_how_they_do():
    pod = {
        "spec": {"initContainers": [{"name": "i", "image": "x"}], "containers": [{"name": "a", "image": "x"}]},
        "status": {
            "initContainerStatuses": [{"name": "i", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}],
            "containerStatuses": [
                {
                    "name": "a",
                    "restartCount": 4,
                    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
                    "lastState": {"terminated": {"exitCode": 3}},
                }
            ],
        },
    }

    first, second = containers_of(pod)

    assert (first.state, first.tone, first.is_init) == ("Completed", "good", True)
    assert (second.state, second.tone, second.restarts, second.last) == ("CrashLoopBackOff", "bad", 4, "exit code 3")


def test_a_bar_shows_what_stays_comes_and_goes():
    node = {
        "node": "n",
        "cpu": {"allocatable": 1000, "before": 200, "after": 700},
        "memory": {"allocatable": 1000, "before": 500, "after": 100},
    }

    cpu, memory = drawn({"nodes": [node]})["bars"][0]["bars"]

    assert (cpu["stays"], cpu["comes"], cpu["goes"]) == (200, 500, 0)
    assert (memory["stays"], memory["comes"], memory["goes"]) == (100, 0, 400)
