"""Which pods lose the finalizer for tracking because no job counts them, after upstream's TestSyncOrphanPod."""

import pytest
from hyperkube_controller.job import Job
from hyperkube_controller.job.pods import FINALIZER

from hyperkube.kinds.resources import JOBS, PODS
from hyperkube.testing.controller_rig import ControllerRig

COMPLETE = {"conditions": [{"type": "Complete", "status": "True"}]}


def job(status=None, **spec):
    template = {"metadata": {"labels": {"job": "j"}}, "spec": {"containers": [{"name": "c"}]}}
    selector = {"matchLabels": {"job": "j"}}
    spec = {"parallelism": 1, "completions": 1, "suspend": False, "selector": selector, "template": template, **spec}
    meta = {"name": "j", "namespace": "d", "uid": "111"}
    return {"kind": "Job", "apiVersion": "batch/v1", "metadata": meta, "spec": spec, "status": status or {}}


def owner(kind="Job", api="batch/v1", *, controller=True):
    return {"apiVersion": api, "kind": kind, "name": "j", "uid": "111", "controller": controller}


def world(owners, jobs, *, labels=None, going=True, others=()):
    rig = ControllerRig(Job)
    rig.client.seed(JOBS, *jobs)
    meta = {"name": "p", "namespace": "d", "labels": labels or {}, "ownerReferences": owners}
    meta["finalizers"] = [*others, FINALIZER]
    if going:
        meta["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    (pod,) = rig.client.seed(
        PODS,
        {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": meta,
            "spec": {"nodeName": "n"},
            "status": {"phase": "Running"},
        },
    )
    rig.informers.refresh()
    rig.controllers[0].drain()
    return rig, pod


@pytest.mark.parametrize(
    ("owners", "jobs", "labels", "released"),
    [
        pytest.param([owner()], [job(COMPLETE)], {"job": "j"}, True, id="of-a-finished-job"),
        pytest.param([owner()], [], {"job": "j"}, True, id="of-a-job-that-is-gone"),
        pytest.param([owner("CronJob")], [], {}, False, id="of-a-cron-job"),
        pytest.param([], [], {}, True, id="without-a-controller"),
        pytest.param([owner(api="example/v1")], [], {}, False, id="of-another-kind-of-job"),
        pytest.param([owner(controller=False)], [job()], {"job": "k"}, True, id="owned-but-not-controlled"),
        pytest.param([owner(api="example/v1", controller=False)], [], {}, True, id="owned-by-another-kind"),
        pytest.param([], [], {"job": "j"}, True, id="selected-by-a-job-that-is-gone"),
        pytest.param(
            [owner()], [job(managedBy="example.com/queue")], {"job": "j"}, False, id="of-a-job-managed-elsewhere"
        ),
    ],
)
def test_a_pod_that_no_job_counts_is_let_go(owners, jobs, labels, released):
    rig, _ = world(owners, jobs, labels=labels)

    left = [each for each in rig.client.objects(PODS) if each["metadata"]["name"] == "p"]
    assert any(each["metadata"].get("finalizers") for each in left) != released


def test_the_pod_of_a_job_that_runs_is_counted_first():
    rig, _ = world([owner()], [job(podReplacementPolicy="Failed")], labels={"job": "j"})

    assert rig.client.get(PODS, "p", "d")["metadata"]["finalizers"] == [FINALIZER]


def test_an_orphan_that_is_not_being_deleted_is_let_go_too():
    rig, _ = world([], [], going=False)

    assert not rig.client.get(PODS, "p", "d")["metadata"]["finalizers"]


def test_the_finalizers_of_others_stay():
    rig, _ = world([], [], going=False, others=["example.com/queue"])

    assert rig.client.get(PODS, "p", "d")["metadata"]["finalizers"] == ["example.com/queue"]
