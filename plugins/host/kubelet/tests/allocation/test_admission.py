"""One pod after the other is admitted, and a critical one may stop others."""

from hyperkube_host.kubelet.allocation.admission import Admission
from hyperkube_host.kubelet.allocation.state import AllocationState
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.lifecycle.predicate import PodAdmission
from hyperkube_host.kubelet.pod.pod_entry import PodEntry, PodState
from hyperkube_host.kubelet.types.pod_status import Failure

NODE = {"metadata": {"name": "n"}, "spec": {}, "status": {"allocatable": {"cpu": "2", "memory": "1Gi", "pods": "2"}}}


def entry(name, state=PodState.PENDING, *, priority=0, cpu=""):
    resources = {"requests": {"cpu": cpu}} if cpu else {}
    spec = {"containers": [{"name": "c", "resources": resources}], "priority": priority}
    return PodEntry({"metadata": {"name": name, "namespace": "d", "uid": name}, "spec": spec}, state=state)


class Node:
    """The admission of a node for two pods, and what it asked for."""

    def __init__(self, *entries, handlers=()):
        self.entries, self.synced = list(entries), []
        predicate = PodAdmission(lambda: NODE, lambda: [one.pod for one in self.entries if one.is_active])
        recorder = KubeletEventRecorder(None, "n")
        self.admission = Admission(
            predicate, handlers, lambda: self.entries, AllocationState(None), recorder, self.synced.append
        )

    def admit(self, one, *, is_running=False):
        self.entries.append(one)
        return self.admission.admit(one, is_running=is_running)


class Refuses:
    """A manager of devices that has none."""

    def admit(self, _pod):
        return Failure("UnexpectedAdmissionError", "no devices")


def test_an_admitted_pod_counts_for_the_next_one():
    node = Node(entry("a", PodState.SYNCING))

    first, second = node.admit(entry("b")), node.admit(entry("c"))

    assert (first.failure, second.failure.reason) == (None, "OutOfpods")
    assert [one.state for one in node.entries[1:]] == [PodState.SYNCING, PodState.REJECTED]


def test_a_pod_that_is_being_stopped_still_counts():
    node = Node(entry("a", PodState.TERMINATING), entry("b", PodState.SYNCING))

    assert node.admit(entry("c")).failure.reason == "OutOfpods"


def test_a_pod_that_runs_already_is_not_asked_for_room():
    node = Node(entry("a", PodState.SYNCING), entry("b", PodState.SYNCING))

    assert node.admit(entry("c"), is_running=True).failure is None


def test_what_a_manager_refuses_is_refused():
    assert Node(handlers=[Refuses()]).admit(entry("a")).failure == Failure("UnexpectedAdmissionError", "no devices")


def test_a_critical_pod_waits_for_those_that_make_room():
    node = Node(entry("a", PodState.SYNCING, cpu="1"), entry("b", PodState.SYNCING))
    vip = entry("vip", priority=2_000_000_000)

    verdict = node.admit(vip)

    assert (verdict.waits, vip.state, node.synced) == (True, PodState.PENDING, ["b"])
    assert node.entries[1].failure.reason == "Preempting"
    assert node.entries[1].disruption["type"] == "DisruptionTarget"

    again = node.admission.admit(vip, is_running=False)
    node.entries[1].state = PodState.TERMINATED
    then = node.admission.admit(vip, is_running=False)

    assert (again.waits, node.synced, then.failure, vip.state) == (True, ["b"], None, PodState.SYNCING)


def test_a_resize_is_granted_only_if_the_node_has_the_room():
    node = Node()
    big, small = entry("big", cpu="1500m"), entry("small", cpu="100m")
    node.admit(big)
    node.admit(small)

    def asks(cpu):
        small.pod = entry("small", cpu=cpu).pod
        pending = node.admission.grant(small)
        return None if pending is None else (pending.reason, pending.cause)

    assert [asks("400m"), asks("600m"), asks("3")] == [None, ("Deferred", "OutOfcpu"), ("Infeasible", "Infeasible")]
