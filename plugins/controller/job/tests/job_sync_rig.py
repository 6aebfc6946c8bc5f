"""A job, its pods in a few words, and one sync of the controller.

Pods are written as words: R(unning), P(ending), S(ucceeded), F(ailed), followed by a completion index (x for one that
is none), by the failures of that index in brackets, by ``*`` for ready, ``-`` for being deleted, ``!`` for one that has
lost the finalizer, ``=3`` for one whose container ended with code 3, ``d`` for one that was disrupted.
"""

import re
from datetime import timedelta

from hyperkube_controller.job import Job
from hyperkube_controller.job.failed_indexes import FAILURES
from hyperkube_controller.job.pods import COMPLETION_INDEX, FINALIZER

from hyperkube.kinds.resources import EVENTS, JOBS, PODS
from hyperkube.machinery.errors import ServiceUnavailable
from hyperkube.machinery.times import format_time
from hyperkube.testing.controller_rig import ControllerRig

WORD = re.compile(r"(?P<phase>[RPSF])(?P<index>\d+|x)?(\((?P<failures>\d+)\))?(=(?P<code>\d+))?(?P<flags>[*!d-]*)")
PHASES = {"R": "Running", "P": "Pending", "S": "Succeeded", "F": "Failed"}
LONG_AGO = "2000-01-01T00:00:00Z"


class Sync(ControllerRig):
    """A job, its pods, and one sync with the cache as it is: what was asked for, and what the job says then."""

    def __init__(self, pods="", *, fail=(), expected=0, status=None, deleted=False, started=None, **spec):
        super().__init__(Job)
        if started is not None:
            status = {**(status or {}), "startTime": format_time(self.clock.now() - timedelta(seconds=started))}
        (self.job,) = self.client.seed(JOBS, self.built(spec, status or {}, deleted=deleted))
        self.client.seed(PODS, *(self.pod(place, word) for place, word in enumerate(pods.split())))
        self.informers.refresh()
        if expected:
            self.plugins[0]._expectations.expect(
                "d/j", creations=max(expected, 0), deletions=["x"][: -min(expected, 0)]
            )
        for verb in fail:
            for _ in range(9):
                self.client.fail_next(verb, "pods", ServiceUnavailable("down"))
        self.client.actions.clear()
        self.drain()

    def drain(self):
        self.controllers[0].drain()
        self.wait_for_events()

    def built(self, spec, status, *, deleted):
        meta = {"name": "j", "namespace": "d", "uid": "job"}
        if deleted:
            meta |= {"deletionTimestamp": LONG_AGO, "finalizers": ["foregroundDeletion"]}
        spec = {"parallelism": 2, "completions": 5, "backoffLimit": 6, **spec}
        restart = spec.pop("restart_policy", "Never")
        template = {
            "metadata": {"labels": {"job-name": "j"}},
            "spec": {"restartPolicy": restart, "containers": [{"name": "c"}]},
        }
        spec |= {"selector": {"matchLabels": {"job-name": "j"}}, "template": template}
        return {"kind": "Job", "apiVersion": "batch/v1", "metadata": meta, "spec": spec, "status": status}

    def pod(self, place, word):
        given = WORD.fullmatch(word)
        meta = {"name": f"mypod-{place}", "namespace": "d", "labels": {"job-name": "j"}, "annotations": {}}
        meta["ownerReferences"] = [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "job", "controller": True}
        ]
        meta["finalizers"] = [] if "!" in given["flags"] else [FINALIZER]
        meta["creationTimestamp"] = LONG_AGO
        if "-" in given["flags"]:
            meta["deletionTimestamp"] = LONG_AGO
        if given["index"]:
            meta["annotations"][COMPLETION_INDEX] = given["index"]
        if given["failures"]:
            meta["annotations"][FAILURES] = given["failures"]
        ended = (
            {"terminated": {"finishedAt": LONG_AGO, "exitCode": int(given["code"] or 1)}}
            if given["phase"] in "SF"
            else {}
        )
        status = {"phase": PHASES[given["phase"]], "containerStatuses": [{"name": "c", "state": ended}]}
        if "*" in given["flags"]:
            status["conditions"] = [{"type": "Ready", "status": "True"}]
        if "d" in given["flags"]:
            status["conditions"] = [{"type": "DisruptionTarget", "status": "True"}]
        return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": {}, "status": status}

    def asked(self, verb):
        return sum(action[:2] == (verb, "pods") for action in self.client.actions)

    @property
    def requests(self):
        return self.asked("create"), self.asked("delete"), self.asked("patch")

    @property
    def status(self):
        return self.client.get(JOBS, "j", "d").get("status") or {}

    @property
    def told(self):
        """The status in one line: the numbers, the indexes, the conditions."""
        status = self.status
        numbers = (
            f"{key}={status[key]}" for key in ("active", "ready", "succeeded", "failed", "terminating") if key in status
        )
        indexes = (f"{key}={status[key]}" for key in ("completedIndexes", "failedIndexes") if key in status)
        conditions = (
            each["type"] if each["status"] == "True" else f"!{each['type']}" for each in status.get("conditions") or []
        )
        return " ".join((*numbers, *indexes, *conditions))

    @property
    def indexes(self):
        made = (pod for pod in self.client.objects(PODS) if pod["metadata"].get("generateName"))
        return sorted(int(pod["metadata"]["annotations"][COMPLETION_INDEX]) for pod in made)

    @property
    def reasons(self):
        return [event["reason"] for event in self.client.objects(EVENTS)]
