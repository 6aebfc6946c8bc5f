"""The taint-eviction controller: which pods go, when, and what is said of it."""

import pytest
from hyperkube_controller.taint_eviction import TaintEviction
from prometheus_client import CollectorRegistry

from hyperkube.kinds.resources import EVENTS, NODES, PODS
from hyperkube.machinery.errors import InternalError
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def taint(key="a", effect="NoExecute"):
    return {"key": key, "value": "1", "effect": effect}


def tolerate(key="a", seconds=None):
    base = {"key": key, "operator": "Exists", "effect": "NoExecute"}
    return base | ({} if seconds is None else {"tolerationSeconds": seconds})


def node(*taints):
    return {"kind": "Node", "metadata": {"name": "n1"}, "spec": {"taints": [*taints]}}


def pod(*tolerations, name="p", on="n1"):
    meta = {"name": name, "namespace": "d", "uid": f"u-{name}"}
    spec = {"tolerations": [*tolerations]} | ({"nodeName": on} if on else {})
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": {"phase": "Running"}}


def run(of, *pods):
    rig = ControllerRig(TaintEviction)
    rig.client.seed(NODES, of)
    rig.client.seed(PODS, *pods)
    rig.settle()
    return rig


def going(rig):
    return [each["metadata"]["name"] for each in rig.client.objects(PODS) if each["metadata"].get("deletionTimestamp")]


def told(rig):
    rig.plugins[0]._recorder.flush()
    return [(each["reason"], each["message"]) for each in rig.client.objects(EVENTS)]


class TestContract(ControllerContract):
    plugin = TaintEviction

    def populate(self, rig):
        rig.client.seed(NODES, node(taint()))
        rig.client.seed(PODS, pod())


@pytest.mark.parametrize(
    ("taints", "tolerations", "seconds"),
    [
        ([], [], None),
        ([taint(effect="NoSchedule")], [], None),
        ([taint()], [], 0),
        ([taint()], [tolerate("b")], 0),
        ([taint()], [tolerate()], None),
        ([taint()], [tolerate(seconds=10)], 10),
        ([taint()], [tolerate(seconds=-1)], 0),
        ([taint()], [tolerate(), tolerate(seconds=10)], 10),
        ([taint(), taint("b")], [tolerate(seconds=100)], 0),
        ([taint(), taint("b")], [tolerate(seconds=100), tolerate("b", seconds=10)], 10),
        ([taint(), taint("b")], [tolerate(seconds=100), tolerate("b")], 100),
    ],
    ids=[
        "no-taint",
        "no-execute-only",
        "untolerated",
        "other-key",
        "for-ever",
        "for-a-time",
        "for-less-than-none",
        "the-shortest-counts",
        "one-untolerated",
        "two-times",
        "one-for-ever",
    ],
)
def test_a_pod_stays_as_long_as_it_tolerates_all_taints(taints, tolerations, seconds):
    rig = run(node(*taints), pod(*tolerations))
    begun = going(rig)
    rig.advance((seconds or 0) + 0.5)

    assert begun == (["p"] if seconds == 0 else [])
    assert going(rig) == ([] if seconds is None else ["p"])


def test_a_pod_without_a_node_stays():
    assert going(run(node(taint()), pod(on=""))) == []


def test_a_pod_that_comes_to_a_tainted_node_goes():
    rig = run(node(taint()), pod(on=""))

    rig.client.patch(PODS, "p", {"spec": {"nodeName": "n1"}}, "d")
    rig.settle()

    assert going(rig) == ["p"]


def test_a_taint_that_goes_in_time_is_forgiven_and_said_so():
    rig = run(node(taint()), pod(tolerate(seconds=10)))
    rig.advance(5)

    rig.client.patch(NODES, "n1", {"spec": {"taints": []}})
    rig.advance(20)

    assert going(rig) == []
    assert told(rig) == [("TaintManagerEviction", "Cancelling deletion of Pod d/p")]


def test_a_second_taint_does_not_begin_the_time_anew():
    rig = run(node(taint()), pod(tolerate(seconds=10), tolerate("b", seconds=10)))
    rig.advance(6)

    rig.client.patch(NODES, "n1", {"spec": {"taints": [taint(), taint("b")]}})
    rig.advance(5)

    assert going(rig) == ["p"]


def test_a_longer_toleration_comes_too_late():
    rig = run(node(taint()), pod(tolerate(seconds=10)))
    rig.advance(1)

    rig.client.patch(PODS, "p", {"spec": {"tolerations": [tolerate(seconds=100)]}}, "d")
    rig.advance(10)

    assert going(rig) == ["p"]


def test_a_toleration_that_is_added_in_time_saves_the_pod():
    rig = run(node(taint()), pod(tolerate(seconds=10)))

    rig.client.patch(PODS, "p", {"spec": {"tolerations": [tolerate()]}}, "d")
    rig.advance(20)

    assert going(rig) == []
    assert told(rig) == [("TaintManagerEviction", "Cancelling deletion of Pod d/p")]


def test_a_pod_of_the_same_name_has_its_own_time():
    rig = run(node(taint()), pod(tolerate(seconds=10)))
    rig.advance(6)
    rig.client.delete(PODS, "p", "d", options={"gracePeriodSeconds": 0})
    rig.settle()
    assert told(rig) == [("TaintManagerEviction", "Cancelling deletion of Pod d/p")]
    rig.client.seed(PODS, pod(tolerate(seconds=10)))
    rig.settle()

    rig.advance(6)

    assert going(rig) == []


def test_an_eviction_that_fails_is_tried_again_and_counted_once():
    rig = ControllerRig(TaintEviction)
    registry = CollectorRegistry()
    registry.register(rig.plugins[0]._metrics)
    rig.client.seed(NODES, node(taint()))
    rig.client.seed(PODS, pod(tolerate(seconds=10)))
    rig.settle()
    rig.client.fail_next("patch", "pods", InternalError("a webhook is down"))

    rig.advance(11)
    rig.advance(1)

    assert going(rig) == ["p"]
    assert registry.get_sample_value("taint_eviction_controller_pod_deletions_total") == 1


def test_an_evicted_pod_is_told_why():
    rig = run(node(taint()), pod())

    (found,) = rig.client.objects(PODS)
    (condition,) = found["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "DisruptionTarget",
        "True",
        "DeletionByTaintManager",
    )
    assert condition["message"] == "Taint manager: deleting due to NoExecute taint"
    assert told(rig) == [("TaintManagerEviction", "Marking for deletion Pod d/p")]
