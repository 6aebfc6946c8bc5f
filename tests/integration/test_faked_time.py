"""A cluster whose time is faked: hours pass in a call, and nothing happens before its time."""

from __future__ import annotations

import threading

import pytest
from hyperkube_lib.leader_election import ElectionOptions, LeaderElector

from hyperkube.kinds.resources import CRON_JOBS, EVENTS, JOBS, LEASES, NODES, PODS
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.times import format_micro_time, format_time

SECONDS = 60.0
TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "any"}]}}


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def start(hyperkube_cluster_factory, clock):
    def with_controllers(*names, **more):
        return hyperkube_cluster_factory(
            clock=clock, controller_manager={"controllers": list(names)}, scheduler=None, **more
        )

    return with_controllers


def pass_until(cluster, condition, what, step=1.0):
    """Let time go on step by step until something has happened; return the seconds that it took."""
    begun = cluster.clock.monotonic()

    def look():
        found = condition()
        if not found:
            cluster.clock.advance(step)
        return found

    cluster.wait(look, what, SECONDS)
    return cluster.clock.monotonic() - begun


def test_a_cron_job_makes_a_job_at_each_of_its_times(start, clock):
    cluster = start("cronjob")
    spec = {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}}
    cluster.client.create(CRON_JOBS, {"metadata": {"name": "tick"}, "spec": spec}, "default")

    first = int(clock.now().timestamp()) // 60 + 5  # a job's name has the minutes since the epoch

    def names():
        return sorted(job["metadata"]["name"] for job in cluster.client.list(JOBS, "default").items)

    seen = [names()]
    for count in (1, 2, 3):
        clock.advance(300 * count - 1 - clock.monotonic())
        seen.append(names())
        pass_until(cluster, lambda count=count: len(names()) == count, f"{count} jobs")
        assert clock.monotonic() >= 300 * count
    seen.append(names())

    assert seen == [[f"tick-{first + 5 * n}" for n in range(count)] for count in (0, 0, 1, 2, 3)]


def test_a_finished_job_goes_when_its_time_is_over(start, clock):
    cluster = start("ttl-after-finished")
    spec = {"ttlSecondsAfterFinished": 3600, "template": TEMPLATE}
    job = cluster.client.create(JOBS, {"metadata": {"name": "done"}, "spec": spec}, "default")
    now = format_time(clock.now())
    ended = [
        {"type": kind, "status": "True", "lastTransitionTime": now, "lastProbeTime": now}
        for kind in ("SuccessCriteriaMet", "Complete")
    ]
    status = {
        "startTime": now,
        "completionTime": now,
        "succeeded": 1,
        "conditions": ended,
        "uncountedTerminatedPods": {},
    }
    cluster.client.update(JOBS, {**job, "status": status}, "default", subresource="status")

    def is_gone():
        try:
            found = cluster.client.get(JOBS, "done", "default")
        except NotFound:
            return True
        return "deletionTimestamp" in found["metadata"]

    clock.advance(3599)
    before = is_gone()
    passed = pass_until(cluster, is_gone, "the job to go")

    assert not before
    assert passed >= 1


def test_a_node_whose_lease_is_not_renewed_becomes_unknown(start, clock):
    cluster = start("nodelifecycle")
    now = format_time(clock.now())
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": now, "lastTransitionTime": now, "reason": "Ready"}
    cluster.client.create(NODES, {"metadata": {"name": "n"}})
    cluster.client.patch(NODES, "n", {"status": {"conditions": [ready]}}, subresource="status")
    lease = {"holderIdentity": "n", "leaseDurationSeconds": 40, "renewTime": format_micro_time(clock.now())}
    cluster.client.create(LEASES, {"metadata": {"name": "n"}, "spec": lease}, "kube-node-lease")

    def is_unknown():
        rows = cluster.client.get(NODES, "n")["status"]["conditions"]
        return [row["status"] for row in rows if row["type"] == "Ready"] == ["Unknown"]

    passed = pass_until(cluster, is_unknown, "the node to be unknown")

    assert passed >= 40


def test_another_leader_comes_when_the_lease_has_run_out(start, clock):
    cluster = start("namespace")
    options = ElectionOptions(name="work")
    held = {
        "holderIdentity": "gone", "leaseDurationSeconds": 15, "leaseTransitions": 0,
        "acquireTime": format_micro_time(clock.now()), "renewTime": format_micro_time(clock.now()),
    }  # fmt: skip
    cluster.client.create(LEASES, {"metadata": {"name": "work"}, "spec": held}, "kube-system")
    leading = threading.Event()
    elector = LeaderElector(
        cluster.client, clock, options, identity="next", on_started=leading.set, on_stopped=leading.clear
    )
    elector.start()

    try:
        passed = pass_until(cluster, leading.is_set, "another leader")
        holder = cluster.client.get(LEASES, "work", "kube-system")["spec"]["holderIdentity"]
    finally:
        elector.stop()

    assert passed >= 15
    assert holder == "next"


def test_an_event_is_kept_for_its_time_and_no_longer(start, clock):
    cluster = start("namespace", apiserver={"event-ttl": 600})
    involved = {"kind": "Pod", "namespace": "default", "name": "p"}
    event = {"metadata": {"name": "said"}, "involvedObject": involved, "reason": "Said", "message": "so"}
    cluster.client.create(EVENTS, event, "default")

    def names():
        return [item["metadata"]["name"] for item in cluster.client.list(EVENTS, "default").items]

    clock.advance(599)
    before = names()
    passed = pass_until(cluster, lambda: "said" not in names(), "the event to go", step=10)

    assert before == ["said"]
    assert passed >= 1


def test_a_whole_cluster_runs_a_cron_job_s_pod_in_faked_time(hyperkube_cluster_factory, clock):
    cluster = hyperkube_cluster_factory(clock=clock, hollow_nodes=1)
    spec = {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}}
    cluster.client.create(CRON_JOBS, {"metadata": {"name": "nightly"}, "spec": spec}, "default")

    def runs():
        return [pod["spec"].get("nodeName") for pod in cluster.client.list(PODS, "default").items] == ["hollow-0"]

    clock.advance(3 * 3600)
    pass_until(cluster, runs, "the nightly pod on a node", step=0.1)

    assert clock.now().strftime("%H:%M") == "03:00"
