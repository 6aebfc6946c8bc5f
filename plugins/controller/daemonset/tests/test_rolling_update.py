"""Updates of daemon sets, as transcripts: how many pods each step creates and deletes.

The rows are those of upstream's ``pkg/controller/daemon/update_test.go``.
"""

from datetime import UTC, datetime, timedelta

import pytest
from hyperkube_controller.daemonset.decision import manage
from hyperkube_controller.daemonset.observed import Observed
from hyperkube_controller.daemonset.pods import node_of, pod_of, pods_by_node
from hyperkube_controller.daemonset.rolling_update import max_surge, max_unavailable, rolling_update

from hyperkube.machinery.times import format_time

NOW = datetime(2030, 1, 1, tzinfo=UTC)
TAINT = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}


class Rollout:
    """A daemon set whose pods come and go at once; the revision of its template is a plain word."""

    def __init__(self, nodes, *, tolerations=(), tainted=()):
        self.now = NOW
        self.digest = "v1"
        self.spec = {"template": {"metadata": {}, "spec": {"tolerations": list(tolerations)}}}
        self.nodes = [
            {"metadata": {"name": f"n{number}"}, "spec": {"taints": [TAINT] if number in tainted else []}}
            for number in range(nodes)
        ]
        self.pods = []
        self.made = 0

    @property
    def daemon_set(self):
        return {"metadata": {"name": "d", "namespace": "d", "uid": "u"}, "spec": self.spec}

    def update(self, digest, **rolling):
        self.digest = digest
        self.spec["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": rolling}

    def sync(self):
        """Act once; return how many pods that created and deleted."""
        created = deleted = 0
        for step in (manage, rolling_update):
            by_node = pods_by_node(self.pods)
            done = step(Observed(self.daemon_set, self.nodes, by_node, self.digest, self.now, lambda _node: True))
            self.pods = [pod for pod in self.pods if pod not in done.delete]
            for node in done.create:
                self.made += 1
                pod = pod_of(self.daemon_set, node, self.digest)
                pod["metadata"] |= {"name": f"p{self.made:03}", "creationTimestamp": f"{self.made:03}"}
                self.pods.append(pod)
            created += len(done.create)
            deleted += len(done.delete)
        return created, deleted

    def mark(self, pods, *, ready=True):
        condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": format_time(self.now)}
        for pod in pods:
            pod["status"] = {"phase": "Running", "conditions": [condition]}

    def mark_all_ready(self):
        self.mark(self.pods)

    def of(self, digest):
        return [pod for pod in self.pods if pod["metadata"]["labels"]["controller-revision-hash"] == digest]

    def started(self, *, ready=True):
        self.sync()
        if ready:
            self.mark_all_ready()
        return self


def test_as_many_are_deleted_as_may_be_unavailable():
    rollout = Rollout(5).started()
    rollout.update("v2", maxUnavailable=2)
    steps = []

    for _ in range(3):
        steps += [rollout.sync(), rollout.sync()]
        rollout.mark_all_ready()

    assert steps == [(0, 2), (2, 0), (0, 2), (2, 0), (0, 1), (1, 0)]
    assert rollout.sync() == (0, 0)


def test_as_many_are_created_beside_the_old_ones_as_the_surge_allows():
    rollout = Rollout(5).started()
    rollout.update("v2", maxSurge=2, maxUnavailable=0)
    steps = []

    for _ in range(4):
        steps += [rollout.sync(), rollout.sync()]
        rollout.mark_all_ready()

    assert steps == [(2, 0), (0, 0), (2, 2), (0, 0), (1, 2), (0, 0), (0, 1), (0, 0)]


def test_a_pod_where_none_should_run_any_more_goes_when_another_one_is_available_in_its_place():
    rollout = Rollout(5, tolerations=[{"key": TAINT["key"], "operator": "Exists"}], tainted=[0]).started()
    rollout.spec["template"]["spec"]["tolerations"] = []
    rollout.update("v2", maxSurge=1, maxUnavailable=0)
    steps = []

    for _ in range(5):
        steps += [rollout.sync(), rollout.sync()]
        rollout.mark_all_ready()

    assert steps == [(1, 1), (0, 0), (1, 1), (0, 0), (1, 1), (0, 0), (1, 1), (0, 0), (0, 1), (0, 0)]


def test_new_pods_that_do_not_become_ready_stop_the_update():
    rollout = Rollout(5).started()
    rollout.update("v2", maxUnavailable=3)

    assert [rollout.sync(), rollout.sync(), rollout.sync()] == [(0, 3), (3, 0), (0, 0)]


def test_the_next_update_leaves_the_pods_alone_that_are_available():
    rollout = Rollout(5).started()
    rollout.update("v2", maxUnavailable=2)
    assert [rollout.sync(), rollout.sync(), rollout.sync()] == [(0, 2), (2, 0), (0, 0)]

    rollout.update("v3", maxUnavailable=2)

    assert [rollout.sync(), rollout.sync(), rollout.sync()] == [(0, 2), (2, 0), (0, 0)]
    assert len(rollout.of("v1")) == 3


@pytest.mark.parametrize(("limit", "replaced"), [(1, 10), (5, 10), (10, 10), (11, 11)])
def test_unavailable_old_pods_are_replaced_whatever_the_limit(limit, replaced):
    rollout = Rollout(20).started()
    rollout.update("v2", maxUnavailable=10)
    rollout.sync()
    rollout.sync()

    rollout.update("v3", maxUnavailable=limit)

    assert [rollout.sync(), rollout.sync(), rollout.sync()] == [(0, replaced), (replaced, 0), (0, 0)]
    assert len(rollout.of("v1")) == 20 - replaced


def test_old_pods_that_are_unavailable_are_replaced_though_too_many_new_ones_are_unavailable():
    rollout = Rollout(100).started()
    for pod in rollout.pods[12:]:
        pod["metadata"]["labels"]["controller-revision-hash"] = "v2"
    rollout.mark(rollout.pods[10:], ready=False)

    rollout.update("v2", maxUnavailable=10)

    assert [rollout.sync(), rollout.sync(), rollout.sync()] == [(0, 2), (2, 0), (0, 0)]


def test_old_pods_none_of_which_is_ready_are_all_replaced():
    rollout = Rollout(5).started(ready=False)
    rollout.update("v2", maxUnavailable=3)

    assert [rollout.sync(), rollout.sync(), rollout.sync()] == [(0, 5), (5, 0), (0, 0)]


def test_surging_waits_for_min_ready_seconds():
    rollout = Rollout(5).started(ready=False)
    rollout.update("v2", maxSurge=3, maxUnavailable=0)
    assert [rollout.sync(), rollout.sync()] == [(5, 0), (0, 5)]  # no old one is ready
    rollout.mark_all_ready()
    rollout.spec["minReadySeconds"] = 15
    rollout.now += timedelta(seconds=100)

    rollout.update("v3", maxSurge=3, maxUnavailable=0)
    assert rollout.sync() == (3, 0)
    rollout.mark(rollout.of("v3")[:2])
    surged = {node_of(pod) for pod in rollout.of("v3")}
    rollout.mark([next(pod for pod in rollout.of("v2") if node_of(pod) not in surged)], ready=False)
    rollout.now += timedelta(seconds=10)
    assert rollout.sync() == (1, 0)  # in the place of the one that is not ready any more
    rollout.now += timedelta(seconds=10)
    assert rollout.sync() == (1, 3)
    rollout.mark([pod for pod in rollout.of("v3") if not pod.get("status")])
    rollout.now += timedelta(seconds=20)
    assert rollout.sync() == (0, 2)
    assert rollout.sync() == (0, 0)


def test_the_same_template_updates_nothing():
    rollout = Rollout(5).started(ready=False)

    rollout.update("v1", maxUnavailable=3)

    assert rollout.sync() == (0, 0)


def test_on_delete_updates_nothing_by_itself():
    rollout = Rollout(2).started()
    rollout.digest = "v2"
    rollout.spec["updateStrategy"] = {"type": "OnDelete"}

    assert rollout.sync() == (0, 0)


@pytest.mark.parametrize(
    ("rolling", "desired", "surge", "unavailable"),
    [
        ({"maxUnavailable": 0}, 0, 0, 0),
        ({"maxUnavailable": 1}, 2, 0, 1),
        ({"maxUnavailable": 0}, 2, 0, 1),
        ({"maxUnavailable": 0, "maxSurge": 0}, 2, 0, 1),
        ({"maxUnavailable": "50%"}, 2, 0, 1),
        ({"maxUnavailable": "50%"}, 3, 0, 2),
        ({"maxUnavailable": 0, "maxSurge": "50%"}, 2, 1, 0),
        ({"maxUnavailable": 0, "maxSurge": "100%"}, 2, 2, 0),
        ({}, 2, 0, 1),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else None,
)
def test_what_surge_and_unavailable_amount_to(rolling, desired, surge, unavailable):
    daemon_set = {"spec": {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}}

    assert (max_surge(daemon_set, desired), max_unavailable(daemon_set, desired)) == (surge, unavailable)


def test_a_node_with_two_pods_of_a_kind_counts_as_unavailable_until_one_is_gone():
    rollout = Rollout(2).started()
    rollout.update("v2", maxUnavailable=1)
    twin = {**rollout.pods[0], "metadata": {**rollout.pods[0]["metadata"], "name": "twin"}}
    seen = pods_by_node([*rollout.pods, twin])

    update = rolling_update(Observed(rollout.daemon_set, rollout.nodes, seen, "v2", NOW, lambda _node: True))

    assert (update.create, update.delete) == ([], [])
