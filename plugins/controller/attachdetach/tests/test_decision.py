"""What is done for a node; the rows are those of upstream's ``reconciler_test.go``."""

import pytest
from attach_detach_rig import LOST, node, pod
from hyperkube_controller.attachdetach.actual_state_of_world import AttachState
from hyperkube_controller.attachdetach.decision import Detach, Wait, Wanted, decide, multi_attach_message

from hyperkube.hookspecs.volume import VolumeSpec

OUT = [{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}]


@pytest.mark.parametrize(
    ("where", "in_use", "seconds", "forces", "step"),
    [
        pytest.param(node("a"), [], 0, True, Detach("x"), id="not mounted"),
        pytest.param(node("a"), ["x"], 1000, True, Wait("x", None), id="mounted, healthy"),
        pytest.param(node("a", LOST), ["x"], 60, True, Wait("x", 300.0), id="mounted, unhealthy for a minute"),
        pytest.param(node("a", LOST), ["x"], 360, True, Detach("x", "timeout"), id="unhealthy for six minutes"),
        pytest.param(node("a", LOST), ["x"], 360, False, Wait("x", None), id="never by force"),
        pytest.param(node("a", taints=OUT), ["x"], 0, False, Detach("x", "out-of-service"), id="out of service"),
        pytest.param(
            node("a", taints=OUT), [], 0, True, Detach("x", "out-of-service"), id="out of service, not mounted"
        ),
        pytest.param(None, [], 0, True, Detach("x"), id="gone, not mounted"),
        pytest.param(None, ["x"], 0, True, Wait("x", 360.0), id="gone, mounted"),
        pytest.param(None, ["x"], 360, True, Detach("x", "timeout"), id="gone for six minutes"),
        pytest.param(None, None, 0, True, Wait("x", 360.0), id="gone, it never said"),
    ],
)
def test_when_a_volume_is_taken_from_a_node(where, in_use, seconds, forces, step):
    attached = {"x": AttachState.ATTACHED}

    assert decide(where, {}, attached, {}, {"x": seconds}, in_use=in_use, forces=forces) == [step]


@pytest.mark.parametrize(
    ("volume", "is_persistent", "steps"),
    [
        ({"accessModes": ["ReadWriteOnce"]}, True, ["Refuse"]),
        ({"accessModes": ["ReadOnlyMany", "ReadWriteOnce"]}, True, ["Attach"]),
        ({}, True, ["Attach"]),
        ({"disk": {}}, False, ["Attach"]),
        ({"azureDisk": {}}, False, ["Refuse"]),
        ({"cinder": {}}, False, ["Refuse"]),
    ],
)
def test_shared_volumes_are_attached_to_several_nodes(volume, is_persistent, steps):
    spec = VolumeSpec(volume=volume, persistent_volume={"metadata": {"name": "pv"}} if is_persistent else None)

    found = decide(node("a"), {"x": Wanted(spec, ())}, {}, {"x": ["b"]}, {}, in_use=())

    assert [type(step).__name__ for step in found] == steps


def test_pods_of_other_namespaces_are_only_counted():
    others = [pod("p", "a"), {"metadata": {"name": "x", "namespace": "secret"}}]
    begin = 'Multi-Attach error for volume "pv" Volume is already '

    assert multi_attach_message("pv", pod("q", "b"), others) == (
        f"{begin}used by pod(s) p and 1 pod(s) in different namespaces"
    )
    assert multi_attach_message("pv", pod("q", "b"), others[1:]) == f"{begin}used by 1 pod(s) in different namespaces"
    assert multi_attach_message("pv", pod("q", "b"), []) == (
        f"{begin}exclusively attached to one node and can't be attached to another"
    )
