"""What is told of jobs at ``/metrics``."""

import pytest
from hyperkube_controller.job import Job
from prometheus_client import CollectorRegistry

from hyperkube.kinds.resources import JOBS, PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.controller_rig import ControllerRig


def job(**spec):
    template = {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}
    spec = {"completions": 2, "parallelism": 2, "selector": {"matchLabels": {"job": "j"}}, "template": template, **spec}
    template["metadata"] = {"labels": {"job": "j"}}
    return {"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "j", "namespace": "d"}, "spec": spec}


class World(ControllerRig):
    def __init__(self, **spec):
        super().__init__(Job)
        self.registry = CollectorRegistry()
        self.registry.register(self.plugins[0]._metrics)
        self.client.seed(JOBS, job(**spec))

    def end(self, phase):
        for pod in self.client.objects(PODS):
            if pod["status"]["phase"] == "Pending":
                self.client.patch(
                    PODS, pod["metadata"]["name"], {"status": {"phase": phase}}, "d", subresource="status"
                )
        self.settle()

    def told(self, name, **labels):
        return self.registry.get_sample_value(f"job_controller_{name}", labels)


def test_a_job_that_succeeds():
    world = World()
    world.settle()

    world.end("Succeeded")

    assert world.told("job_pods_creation_total", reason="new", status="succeeded") == 2
    assert world.told("job_pods_finished_total", completion_mode="NonIndexed", result="succeeded") == 2
    ended = {"completion_mode": "NonIndexed", "result": "succeeded", "reason": "CompletionsReached"}
    assert world.told("jobs_finished_total", **ended) == 1
    assert world.told("terminated_pods_tracking_finalizer_total", event="add") == 2
    assert world.told("terminated_pods_tracking_finalizer_total", event="delete") == 2
    sync = {"completion_mode": "NonIndexed", "result": "success", "action": "pods_created"}
    assert world.told("job_syncs_total", **sync) == 1
    assert world.told("job_sync_duration_seconds_count", **sync) == 1


def test_a_job_that_fails_with_indexes():
    world = World(completionMode="Indexed", backoffLimitPerIndex=0, maxFailedIndexes=5)
    world.settle()

    world.end("Failed")

    assert world.told("job_pods_finished_total", completion_mode="Indexed", result="failed") == 2
    assert world.told("job_finished_indexes_total", status="failed", backoffLimit="perIndex") == 2
    ended = {"completion_mode": "Indexed", "result": "failed", "reason": "FailedIndexes"}
    assert world.told("jobs_finished_total", **ended) == 1


def test_a_pod_that_is_refused():
    world = World(parallelism=1)
    world.client.fail_next("create", "pods", Forbidden("quota"))

    world.settle()

    assert world.told("job_pods_creation_total", reason="new", status="failed") == 1
    sync = {"completion_mode": "NonIndexed", "result": "error", "action": "pods_created"}
    assert world.told("job_syncs_total", **sync) == 1


def test_a_job_of_another_controller():
    world = World(managedBy="example.com/own")

    world.settle()

    assert world.told("jobs_by_external_controller_total", controller_name="example.com/own") == 1


@pytest.mark.parametrize("name", ["job_syncs", "jobs_finished", "job_pods_finished", "job_pods_creation"])
def test_every_family_is_there_from_the_start(name):
    families = {family.name for family in World().registry.collect()}

    assert f"job_controller_{name}" in families


@pytest.mark.parametrize("action", ["FailJob", "Ignore", "Count"])
def test_failures_that_the_pod_failure_policy_handles(action):
    rule = {"action": action, "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    world = World(podFailurePolicy={"rules": [rule]}, podReplacementPolicy="Failed")
    world.settle()
    disrupted = {"phase": "Failed", "conditions": [{"type": "DisruptionTarget", "status": "True"}]}
    name = world.client.objects(PODS)[0]["metadata"]["name"]

    world.client.patch(PODS, name, {"status": disrupted}, "d", subresource="status")
    world.settle()

    assert world.told("pod_failures_handled_by_failure_policy_total", action=action) == 1
