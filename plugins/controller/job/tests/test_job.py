"""The job controller, read as transcripts of pods that end well or badly."""

import pytest
from hyperkube_controller.job import Job
from hyperkube_controller.job.controller import pod_of
from hyperkube_controller.job.decision import NewPod
from hyperkube_controller.job.indexes import read_indexes, write_indexes
from hyperkube_controller.job.pods import FINALIZER, index_of

from hyperkube.kinds.resources import JOBS, PODS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def job(**spec):
    return {
        "kind": "Job",
        "apiVersion": "batch/v1",
        "metadata": {"name": "sum", "namespace": "d"},
        "spec": {
            "parallelism": 1,
            "completions": 1,
            "backoffLimit": 6,
            "selector": {"matchLabels": {"job-name": "sum"}},
            "template": {
                "metadata": {"labels": {"job-name": "sum"}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]},
            },
            **spec,
        },
    }


class World(ControllerRig):
    def __init__(self, **spec):
        super().__init__(Job)
        self.client.seed(JOBS, job(**spec))
        self.settle()

    def active(self):
        ended = {"Succeeded", "Failed"}
        return [
            pod
            for pod in self.client.objects(PODS)
            if pod["status"]["phase"] not in ended and not pod["metadata"].get("deletionTimestamp")
        ]

    def end(self, count=1, phase="Succeeded", *, code=0, index=None, conditions=()):
        chosen = [pod for pod in self.active() if index is None or index_of(pod) == index]
        for pod in chosen[:count]:
            stamp = self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
            terminated = {"finishedAt": stamp, "exitCode": code}
            ended = {
                "phase": phase,
                "containerStatuses": [{"name": "c", "state": {"terminated": terminated}}],
                "conditions": [{"type": kind, "status": "True"} for kind in conditions],
            }
            self.client.patch(PODS, pod["metadata"]["name"], {"status": ended}, "d", subresource="status")
        self.settle()

    def indexes(self):
        return sorted(index_of(pod) for pod in self.active())

    def status(self):
        return self.client.get(JOBS, "sum", "d")["status"]

    def conditions(self):
        return {c["type"]: c["reason"] for c in self.status().get("conditions", []) if c["status"] == "True"}


class TestContract(ControllerContract):
    plugin = Job

    def populate(self, rig):
        rig.client.seed(JOBS, job())


def test_a_job_runs_its_pods_a_few_at_a_time_until_enough_succeeded():
    world = World(parallelism=2, completions=3)
    assert len(world.active()) == 2
    world.end(2)
    assert len(world.active()) == 1

    world.end()

    assert world.active() == []
    status = world.status()
    assert status["succeeded"] == 3
    assert status["completionTime"]
    assert world.conditions() == {"SuccessCriteriaMet": "CompletionsReached", "Complete": "CompletionsReached"}
    assert "active" not in status


def test_counted_pods_lose_the_finalizer():
    world = World()
    assert world.active()[0]["metadata"]["finalizers"] == [FINALIZER]

    world.end()

    assert not any(pod["metadata"].get("finalizers") for pod in world.client.objects(PODS))
    assert world.status()["uncountedTerminatedPods"] == {}


def test_a_pod_deleted_before_it_was_counted_still_counts():
    world = World()
    name = world.active()[0]["metadata"]["name"]
    world.client.patch(PODS, name, {"status": {"phase": "Succeeded"}}, "d", subresource="status")
    world.client.delete(PODS, name, "d")

    world.settle()

    assert world.status()["succeeded"] == 1
    assert world.client.objects(PODS) == []


def test_an_adopted_pod_counts_and_none_is_made_in_its_place():
    world = World(suspend=True)
    meta = {"name": "stray", "namespace": "d", "labels": {"job-name": "sum"}}
    world.client.seed(
        PODS, {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": {}, "status": {"phase": "Running"}}
    )
    world.client.patch(JOBS, "sum", {"spec": {"suspend": False}}, "d")
    world.settle()

    (pod,) = world.active()
    assert (pod["metadata"]["name"], pod["metadata"]["finalizers"]) == ("stray", [FINALIZER])

    world.end()
    assert world.status()["succeeded"] == 1


def test_a_pod_that_is_selected_no_more_is_let_go_with_its_finalizer():
    world = World()
    name = world.active()[0]["metadata"]["name"]

    world.client.patch(PODS, name, {"metadata": {"labels": {"job-name": "other"}}}, "d")
    world.settle()

    meta = world.client.get(PODS, name, "d")["metadata"]
    assert not meta.get("ownerReferences")
    assert not meta.get("finalizers")


def test_failures_are_retried_ever_later():
    world = World()
    world.end(phase="Failed")
    assert world.active() == []
    world.advance(11)
    assert len(world.active()) == 1

    world.end(phase="Failed")
    world.advance(15)
    assert world.active() == []
    world.advance(10)

    assert len(world.active()) == 1
    assert world.status()["failed"] == 2


def test_too_many_failures_end_the_job():
    world = World(backoffLimit=1)
    world.end(phase="Failed")
    world.advance(11)

    world.end(phase="Failed")

    assert world.conditions() == {"FailureTarget": "BackoffLimitExceeded", "Failed": "BackoffLimitExceeded"}
    world.advance(1000)
    assert world.active() == []


def test_a_deadline_ends_the_job_and_its_pods():
    world = World(activeDeadlineSeconds=60)
    assert len(world.active()) == 1

    world.advance(61)

    assert world.active() == []
    assert world.conditions()["Failed"] == "DeadlineExceeded"


def test_a_suspended_job_has_no_pods_until_it_is_resumed():
    world = World(suspend=True)
    assert world.active() == []
    assert world.conditions() == {"Suspended": "JobSuspended"}

    world.client.patch(JOBS, "sum", {"spec": {"suspend": False}}, "d")
    world.settle()

    assert len(world.active()) == 1
    assert world.conditions() == {}


def test_pods_of_a_suspended_job_have_not_failed_and_its_time_starts_anew():
    world = World(parallelism=2, completions=2)
    started = world.status()["startTime"]
    world.clock.advance(5)

    world.client.patch(JOBS, "sum", {"spec": {"suspend": True}}, "d")
    world.settle()
    assert world.client.objects(PODS) == []
    assert not {"failed", "startTime"} & set(world.status())
    world.client.patch(JOBS, "sum", {"spec": {"suspend": False}}, "d")
    world.settle()

    assert len(world.active()) == 2
    assert world.status()["startTime"] > started


def test_a_job_that_is_managed_elsewhere_is_left_alone():
    world = World(managedBy="example.com/queue")

    assert world.active() == []
    assert not world.client.get(JOBS, "sum", "d").get("status")


def test_a_work_queue_ends_when_one_succeeded_and_none_is_left():
    world = World(parallelism=3, completions=None)
    assert len(world.active()) == 3
    world.end(1)
    assert len(world.active()) == 2
    assert "Complete" not in world.conditions()

    world.end(2)

    assert "Complete" in world.conditions()


def test_each_index_is_done_once():
    world = World(parallelism=2, completions=3, completionMode="Indexed")
    indexes = [pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] for pod in world.active()]
    assert sorted(indexes) == ["0", "1"]
    first = world.active()[0]
    assert first["spec"]["hostname"] == "sum-0"
    assert first["spec"]["containers"][0]["env"][0]["name"] == "JOB_COMPLETION_INDEX"

    for _ in range(3):
        world.end(1)

    assert world.status()["completedIndexes"] == "0-2"
    assert world.status()["succeeded"] == 3
    assert "Complete" in world.conditions()


@pytest.mark.parametrize("text", ["", "0", "0,1", "0-2", "1,3-5,7"])
def test_indexes_are_written_as_they_were_read(text):
    assert write_indexes(read_indexes(text, 10)) == text


FAIL_ON_3 = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}
IGNORE_DISRUPTION = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


def test_the_failure_policy_fails_the_job_at_once():
    world = World(parallelism=2, completions=2, podFailurePolicy={"rules": [IGNORE_DISRUPTION, FAIL_ON_3]})
    name = world.active()[0]["metadata"]["name"]

    world.end(phase="Failed", code=3)

    assert world.conditions() == {"FailureTarget": "PodFailurePolicy", "Failed": "PodFailurePolicy"}
    message = f"Container c for pod d/{name} failed with exit code 3 matching FailJob rule at index 1"
    assert [condition["message"] for condition in world.status()["conditions"]] == [message, message]
    assert world.active() == []
    assert world.status()["failed"] == 2


def test_ignored_failures_do_not_count_but_are_retried_later():
    world = World(backoffLimit=0, podFailurePolicy={"rules": [IGNORE_DISRUPTION]})

    for pause in (11, 21):
        world.end(phase="Failed", code=137, conditions=["DisruptionTarget"])
        assert world.active() == []
        world.advance(pause)
        assert len(world.active()) == 1

    assert "failed" not in world.status()
    world.end()
    assert "Complete" in world.conditions()


def test_a_pod_is_replaced_once_it_has_failed_where_the_policy_says_so():
    world = World(podReplacementPolicy="Failed")
    name = world.active()[0]["metadata"]["name"]

    world.client.delete(PODS, name, "d")
    world.advance(30)
    assert world.active() == []
    assert world.status()["terminating"] == 1
    assert "failed" not in world.status()
    world.client.patch(PODS, name, {"status": {"phase": "Failed"}}, "d", subresource="status")
    world.advance(30)

    assert len(world.active()) == 1
    assert (world.status()["failed"], world.status()["terminating"]) == (1, 0)


def test_an_index_is_given_up_and_the_others_run_on():
    world = World(
        parallelism=2, completions=2, completionMode="Indexed", backoffLimitPerIndex=1, backoffLimit=2**31 - 1
    )
    world.end(phase="Failed", index=0)
    assert world.indexes() == [1]
    world.advance(11)
    (again,) = (pod for pod in world.active() if index_of(pod) == 0)
    assert again["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"] == "1"
    assert world.status()["failed"] == 1

    world.end(phase="Failed", index=0)
    world.advance(100)
    assert world.indexes() == [1]
    assert (world.status()["failedIndexes"], world.status()["failed"]) == ("0", 2)
    world.end(index=1)

    assert world.conditions() == {"FailureTarget": "FailedIndexes", "Failed": "FailedIndexes"}
    assert (world.status()["completedIndexes"], world.status()["succeeded"]) == ("1", 1)


def test_too_many_failed_indexes_end_the_job():
    policy = {"rules": [{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [3]}}]}
    per_index = {
        "backoffLimitPerIndex": 5,
        "maxFailedIndexes": 1,
        "backoffLimit": 2**31 - 1,
        "podFailurePolicy": policy,
    }
    world = World(parallelism=4, completions=4, completionMode="Indexed", **per_index)

    world.end(phase="Failed", code=3, index=2)
    assert world.status()["failedIndexes"] == "2"
    assert world.conditions() == {}
    world.end(phase="Failed", code=3, index=3)

    assert world.conditions()["Failed"] == "MaxFailedIndexesExceeded"
    assert world.status()["failedIndexes"] == "2,3"
    assert world.active() == []


def test_the_success_policy_completes_the_job_early():
    policy = {"rules": [{"succeededIndexes": "0"}]}
    world = World(parallelism=3, completions=3, completionMode="Indexed", successPolicy=policy)

    world.end(index=0)

    assert world.conditions() == {"SuccessCriteriaMet": "SuccessPolicy", "Complete": "SuccessPolicy"}
    assert world.status()["conditions"][0]["message"] == "Matched rules at index 0"
    assert (world.status()["succeeded"], world.status()["completedIndexes"]) == (1, "0")
    assert "failed" not in world.status()
    assert world.active() == []
    assert not any(pod["metadata"].get("finalizers") for pod in world.client.objects(PODS))


def test_names_keep_the_index_where_the_jobs_name_is_long():
    made = pod_of({"metadata": {"name": "n" * 60, "namespace": "d"}, "spec": {}}, NewPod(7))

    assert made["metadata"]["generateName"] == "n" * 55 + "-7-"
