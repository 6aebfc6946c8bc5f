"""The scheduler through the real API server: nothing is bound twice, no node holds more than it has."""

from __future__ import annotations

import contextlib
import os
import random
import threading

import pytest

pytest.importorskip("numpy")

from hyperkube_host.scheduler.options import SchedulerOptions
from hyperkube_host.scheduler.scheduler import Scheduler
from hyperkube_testing.cluster.cluster import ControlPlane
from hyperkube_testing.scheduling.tables import node

from hyperkube.kinds.resources import EVENTS, NODES, PODS
from hyperkube.machinery.errors import ApiError, Conflict, NotFound
from hyperkube.machinery.users import component

STEPS = int(os.environ.get("HYPERKUBE_STORM", "500"))
"""Events of a storm; ``./dev properties`` makes it 5,000."""
NO_ACCOUNTS = {"disable-admission-plugins": ("ServiceAccount",)}


def pod(name, cpu="1", **spec):
    requests = {"cpu": cpu, "memory": "1Mi"}
    container = {"name": "c", "image": "registry/app:1", "resources": {"requests": requests}}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [container], **spec}}


@pytest.fixture
def cluster():
    with ControlPlane(controller_manager=None, apiserver=NO_ACCOUNTS) as running:
        yield running


def add_node(cluster, name, **words):
    """Create a node without the not-ready taint that admission gives it."""
    made = cluster.client.create(NODES, node(name, **words))
    taints = [taint for taint in made["spec"].get("taints", []) if taint["key"] != "node.kubernetes.io/not-ready"]
    return cluster.client.patch(NODES, name, {"spec": {"taints": taints or None}})


def node_of(cluster, name):
    return cluster.client.get(PODS, name, "default")["spec"].get("nodeName")


def message_of(cluster, name):
    conditions = cluster.client.get(PODS, name, "default")["status"].get("conditions", [])
    return next((row["message"] for row in conditions if row["type"] == "PodScheduled" and row.get("message")), "")


def test_a_pod_that_fits_nowhere_says_why_and_is_placed_when_room_comes(cluster):
    add_node(cluster, "small", cpu="1")
    add_node(cluster, "tainted", taints=[{"key": "dedicated", "effect": "NoSchedule"}])
    cluster.client.create(PODS, pod("big", "2"))

    cluster.wait(lambda: "0/2" in message_of(cluster, "big"))
    said = message_of(cluster, "big")
    add_node(cluster, "large", cpu="4")
    cluster.wait(lambda: node_of(cluster, "big"))

    expected = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)."
    assert said.startswith(expected)
    assert node_of(cluster, "big") == "large"
    reasons = {event["reason"] for event in cluster.client.list(EVENTS, "default").items}
    assert "FailedScheduling" in reasons


def test_a_gated_pod_waits_for_its_gates(cluster):
    add_node(cluster, "a")
    cluster.client.create(PODS, pod("gated", schedulingGates=[{"name": "example.com/wait"}]))
    cluster.client.create(PODS, pod("free"))
    cluster.wait(lambda: node_of(cluster, "free"))
    before = node_of(cluster, "gated")

    cluster.client.patch(PODS, "gated", {"spec": {"schedulingGates": None}}, "default")
    cluster.wait(lambda: node_of(cluster, "gated"))

    assert before is None


def test_a_pod_recreated_under_its_name_is_placed_again(cluster):
    add_node(cluster, "a")
    for _ in range(5):
        cluster.client.create(PODS, pod("again"))
        cluster.wait(lambda: node_of(cluster, "again"))
        cluster.client.delete(PODS, "again", "default", options={"gracePeriodSeconds": 0})


class Bindings:
    """Everything that ever happened to pods and nodes, as an outside watcher sees it."""

    def __init__(self, client):
        self.nodes = {}
        self.seen = []
        self._watch = client.watch(PODS)
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self):
        for event in self._watch:
            meta, spec = event.object["metadata"], event.object.get("spec", {})
            if event.type in {"ADDED", "MODIFIED"} and spec.get("nodeName"):
                self.nodes.setdefault(meta["uid"], set()).add(spec["nodeName"])
            self.seen.append((event.type, meta["name"]))

    def close(self):
        self._watch.close()
        self._thread.join(30)


def check_room(client, sizes):
    """Every node's live pods fit into what it has."""
    used = {}
    for each in client.list(PODS, "default").items:
        name = each["spec"].get("nodeName")
        if name and each["status"].get("phase") not in {"Succeeded", "Failed"}:
            amount = int(each["spec"]["containers"][0]["resources"]["requests"]["cpu"])
            used[name] = used.get(name, 0) + amount
    over = {name: amount for name, amount in used.items() if amount > sizes.get(name, amount)}
    assert over == {}


class Storm:
    """Random creates and deletes of pods and nodes, and bindings by another scheduler."""

    def __init__(self, cluster, seed):
        self.cluster, self.client, self.chance = cluster, cluster.client, random.Random(seed)
        self.sizes = {}
        self.pods = []
        self.count = 0

    def step(self):
        do = self.chance.choice(
            [self.make_pod] * 6
            + [self.delete_pod] * 3
            + [self.make_node, self.delete_node, self.end_pod, self.steal, self.cordon]
        )
        try:
            do()
        except (NotFound, Conflict):
            return

    def make_pod(self):
        self.count += 1
        name = f"p{self.count}"
        self.client.create(PODS, pod(name, str(self.chance.randrange(1, 4)), priority=None))
        self.pods.append(name)

    def delete_pod(self):
        if self.pods:
            name = self.pods.pop(self.chance.randrange(len(self.pods)))
            self.client.delete(PODS, name, "default", options={"gracePeriodSeconds": 0})

    def end_pod(self):
        if self.pods:
            name = self.chance.choice(self.pods)
            self.client.patch(PODS, name, {"status": {"phase": "Succeeded"}}, "default", subresource="status")

    def make_node(self, size=0):
        name = f"n{len(self.sizes)}"
        size = size or self.chance.randrange(3, 10)
        self.sizes[name] = size
        add_node(self.cluster, name, cpu=str(size))

    def delete_node(self):
        names = [each["metadata"]["name"] for each in self.client.list(NODES).items]
        if len(names) > 3:
            self.client.delete(NODES, self.chance.choice(names))

    def cordon(self):
        names = [each["metadata"]["name"] for each in self.client.list(NODES).items]
        if names:
            change = {"spec": {"unschedulable": self.chance.random() < 0.4 or None}}
            self.client.patch(NODES, self.chance.choice(names), change)

    def steal(self):
        """Bind a small pod to a node that is not there, as a second scheduler may: ours must notice."""
        self.count += 1
        name = f"p{self.count}"
        self.client.create(PODS, pod(name))
        target = {"kind": "Node", "name": "elsewhere"}
        binding = {"metadata": {"name": name, "namespace": "default"}, "target": target}
        self.client.create(PODS, binding, "default", name=name, subresource="binding")
        self.pods.append(name)


IMPATIENT = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
podInitialBackoffSeconds: 0.05
podMaxBackoffSeconds: 0.5
"""


class Unlucky:
    """The scheduler's client, whose bindings fail now and then: refused, lost, or stored while the answer is lost."""

    def __init__(self, client, seed):
        self._client, self._chance = client, random.Random(seed)
        self.failures = 0

    def __getattr__(self, name):
        return getattr(self._client, name)

    def create(self, resource, obj, namespace="", **words):
        luck = self._chance.random() if words.get("subresource") == "binding" else 1.0
        if luck < 0.3:
            self.failures += 1
        if luck < 0.1:
            raise Conflict(f"Operation cannot be fulfilled on pods/binding {words['name']!r}")
        if luck < 0.2:
            raise ConnectionError("the connection was reset before the request was read")
        made = self._client.create(resource, obj, namespace, **words)
        if luck < 0.3:
            raise ConnectionError("the connection was reset before the answer came")
        return made


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [1, 2])
def test_random_events_bind_nothing_twice_and_overcommit_nothing(unscheduled, tmp_path, seed):
    cluster, config = unscheduled, tmp_path / "config.yaml"
    config.write_text(IMPATIENT)
    client = Unlucky(cluster.server.client(component("system:kube-scheduler")), seed)
    bindings = Bindings(cluster.client)
    storm = Storm(cluster, seed)
    for _ in range(6):
        storm.make_node()

    with scheduler_of(cluster, client=client, config=str(config)):
        for step in range(STEPS):
            storm.step()
            if step % 25 == 0:
                check_room(cluster.client, storm.sizes)
        for _ in range(STEPS // 12):
            storm.make_node(20)
        cluster.wait(lambda: all_bound(cluster.client), "every pod to be bound", 120)

    bindings.close()
    check_room(cluster.client, storm.sizes)
    twice = {uid: names for uid, names in bindings.nodes.items() if len(names) > 1}
    assert twice == {}
    assert len(bindings.nodes) > STEPS // 4
    assert client.failures > STEPS // 50


def all_bound(client):
    try:
        return all(
            each["spec"].get("nodeName") or each["status"].get("phase") == "Succeeded"
            for each in client.list(PODS, "default").items
        )
    except ApiError:
        return False


def test_a_pod_of_high_priority_takes_the_place_of_a_low_one(cluster):
    from hyperkube.kinds.resources import PRIORITY_CLASSES

    for name, value in (("low", 1), ("high", 1000)):
        made = {
            "metadata": {"name": name},
            "value": value,
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
        }
        cluster.client.create(PRIORITY_CLASSES, made)
    add_node(cluster, "only", cpu="2")
    cluster.client.create(PODS, pod("victim", "2", priorityClassName="low", terminationGracePeriodSeconds=1))
    cluster.wait(lambda: node_of(cluster, "victim"))

    cluster.client.create(PODS, pod("important", "2", priorityClassName="high"))
    cluster.wait(lambda: cluster.client.get(PODS, "important", "default")["status"].get("nominatedNodeName"))
    cluster.wait(lambda: cluster.client.get(PODS, "victim", "default")["metadata"].get("deletionTimestamp"))
    victim = cluster.client.get(PODS, "victim", "default")
    cluster.client.delete(PODS, "victim", "default", options={"gracePeriodSeconds": 0})
    cluster.wait(lambda: node_of(cluster, "important"))

    conditions = {row["type"]: row.get("reason") for row in victim["status"]["conditions"]}
    assert conditions["DisruptionTarget"] == "PreemptionByScheduler"
    assert node_of(cluster, "important") == "only"


def test_anti_affinity_and_spreading_hold_through_the_api(cluster):
    for index in range(3):
        add_node(cluster, f"n{index}", labels={"kubernetes.io/hostname": f"n{index}"})
    apart = {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
    for index in range(4):
        made = pod(f"db{index}", affinity={"podAntiAffinity": apart})
        made["metadata"]["labels"] = {"app": "db"}
        cluster.client.create(PODS, made)

    placed = cluster.wait(
        lambda: [name for name in (node_of(cluster, f"db{index}") for index in range(4)) if name][2:] and 1
    )
    nodes = [node_of(cluster, f"db{index}") for index in range(4)]
    left = nodes.index(None)
    expected = "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules."
    cluster.wait(lambda: message_of(cluster, f"db{left}").startswith(expected), expected)

    assert placed
    assert len({name for name in nodes if name}) == 3


POLICY = """{"kind": "Policy", "apiVersion": "v1", "priorities": [{"name": "%s", "weight": 1}]}"""


def test_a_changed_file_acts_on_the_next_pod_and_a_bad_one_on_none(tmp_path):
    path = tmp_path / "policy.json"
    path.write_text(POLICY % "LeastRequestedPriority")
    options = {"policy-config-file": str(path)}
    with ControlPlane(controller_manager=None, apiserver=NO_ACCOUNTS, scheduler=options) as cluster:
        add_node(cluster, "empty", cpu="8")
        add_node(cluster, "fuller", cpu="8")
        cluster.client.create(PODS, pod("filler", "4", nodeSelector=None, nodeName="fuller"))
        cluster.client.create(PODS, pod("first"))
        cluster.wait(lambda: node_of(cluster, "first"))

        path.write_text("not: [a policy")
        cluster.wait(lambda: events_with(cluster, "ConfigurationRejected"))
        path.write_text(POLICY % "MostRequestedPriority")
        cluster.wait(lambda: events_with(cluster, "ConfigurationReloaded"))
        cluster.client.create(PODS, pod("second"))
        cluster.wait(lambda: node_of(cluster, "second"))

        assert node_of(cluster, "first") == "empty"
        assert node_of(cluster, "second") == "fuller"


def events_with(cluster, reason):
    return [event for event in cluster.client.list(EVENTS, "kube-system").items if event["reason"] == reason]


@contextlib.contextmanager
def scheduler_of(cluster, client=None, **options):
    """A scheduler that the test can ask, and end."""
    client = client or cluster.server.client(component("system:kube-scheduler"))
    running = Scheduler(client=client, options=SchedulerOptions.in_process(options))
    running.start()
    try:
        yield running
    finally:
        running.close()


@pytest.fixture
def unscheduled():
    with ControlPlane(controller_manager=None, scheduler=None, apiserver=NO_ACCOUNTS) as running:
        yield running


def test_attempts_and_pending_pods_are_counted_under_their_usual_names(unscheduled):
    cluster = unscheduled
    pytest.importorskip("prometheus_client")
    add_node(cluster, "a", cpu="1")
    for name in ("one", "two"):
        cluster.client.create(PODS, pod(name))
    with scheduler_of(cluster) as scheduler:
        cluster.wait(lambda: message_of(cluster, "one") or message_of(cluster, "two"))
        cluster.wait(lambda: 'result="scheduled"' in scheduler.metrics.text().decode())
        cluster.wait(lambda: scheduler.metrics.text().decode().count('queue="unschedulable"} 1.0'))
        told = scheduler.metrics.text().decode()

    lines = dict(line.rsplit(" ", 1) for line in told.splitlines() if not line.startswith("#"))
    assert lines['scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"}'] == "1.0"
    assert lines["scheduler_pod_scheduling_attempts_count"] == "1.0"
    assert 'scheduler_pod_scheduling_sli_duration_seconds_count{attempts="1"}' in lines
    assert lines['scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="default-scheduler"}'] == "1.0"
    points = ("Filter", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind", "PostFilter")
    # The times of single plugins are another series: of a tenth of the cycles, and of scores kept for later pods too.
    timed = [line for line in lines if line.startswith("scheduler_framework_extension_point_duration_seconds_count")]
    missing = [point for point in points if not any(f'extension_point="{point}"' in line for line in timed)]
    assert missing == ["Score"]  # one node that fits is not scored


def test_why_a_pod_is_where_it_is_survives_a_restart(unscheduled, tmp_path):
    cluster, kept = unscheduled, {"explanations-file": str(tmp_path / "scheduler" / "explanations")}
    add_node(cluster, "a")
    add_node(cluster, "b", taints=[{"key": "dedicated", "effect": "NoSchedule"}])
    add_node(cluster, "c")
    cluster.client.create(PODS, pod("web"))
    with scheduler_of(cluster, **kept) as scheduler:
        cluster.wait(lambda: node_of(cluster, "web"))
        before = scheduler.explain("default/web")

    with scheduler_of(cluster, **kept) as scheduler:
        cluster.wait(scheduler.ready)
        after = scheduler.explain("default/web")
    with scheduler_of(cluster) as scheduler:
        cluster.wait(scheduler.ready)
        forgetful = scheduler.explain("default/web")

    assert after == before
    assert {row["node"] for row in after["nodes"] if "scores" in row} == {"a", "c"}
    assert forgetful is None
