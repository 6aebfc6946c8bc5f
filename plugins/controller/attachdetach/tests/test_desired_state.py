"""Which volumes are wanted on which node; the rows are those of upstream's tests of the desired state of the world."""

import pytest
from attach_detach_rig import World, node, pod
from hyperkube_controller.attachdetach.actual_state_of_world import ActualStateOfWorld, AttachState

from hyperkube.kinds.resources import NODES, PODS


def with_disks(name, where, *disks):
    found = pod(name, where)
    found["spec"]["volumes"] = [{"name": disk, "disk": {"id": disk}} for disk in disks]
    return found


@pytest.mark.parametrize(
    ("pods", "done"),
    [
        pytest.param([], [], id="nodes without pods"),
        pytest.param([with_disks("p", "a", "d1"), with_disks("q", "b", "d2")], ["d1 a", "d2 b"], id="one volume each"),
        pytest.param(
            [with_disks("p", "a", "d1"), with_disks("q", "b", "d2"), with_disks("r", "b", "d2")],
            ["d1 a", "d2 b"],
            id="an extra pod for the second",
        ),
        pytest.param(
            [with_disks("p", "a", "d1"), with_disks("q", "b", "d2"), with_disks("r", "b", "d3")],
            ["d1 a", "d2 b", "d3 b"],
            id="three volumes",
        ),
        pytest.param([with_disks("p", "a", "d1", "d2")], ["d1 a", "d2 a"], id="two volumes of one pod"),
        pytest.param([with_disks("p", "unknown", "d1")], [], id="a node that is not there"),
    ],
)
def test_what_is_attached_for_which_pods(pods, done):
    assert sorted(World(*pods).disks.done) == [f"attach {row}" for row in done]


def test_nodes_whose_kubelets_attach_are_left_alone():
    own = node("a")
    del own["metadata"]["annotations"]

    assert World(with_disks("p", "a", "d1"), nodes=[own]).disks.done == []


def test_a_volume_stays_until_its_last_pod_on_the_node_goes():
    world = World(with_disks("p", "a", "d1"), with_disks("q", "a", "d1"))
    world.remove("p")
    world.settle()
    before = list(world.disks.done)
    world.remove("q")
    world.settle()

    assert (before, world.disks.done) == (["attach d1 a"], ["attach d1 a", "detach d1 a"])


def test_a_pod_of_another_volume_that_goes_changes_nothing():
    world = World(with_disks("p", "a", "d1"), with_disks("q", "b", "d2"))
    world.remove("q")
    world.settle()

    assert [row["name"] for row in world.attached("a")] == ["example.com/disk/d1"]


def test_a_pod_that_is_seen_before_its_node_gets_its_volume_with_it():
    world = World(with_disks("p", "late", "d1"))
    before = list(world.disks.done)
    world.client.seed(NODES, node("late"))
    world.settle()

    assert (before, world.disks.done) == ([], ["attach d1 late"])


def test_a_node_that_is_looked_at_costs_no_look_at_the_others():
    world = World(with_disks("p", "a", "d1"), nodes=[node(name) for name in "abc"])
    listed = []
    known = world.plugins[0]._nodes.list
    world.plugins[0]._nodes.list = lambda: listed.append(1) or known()

    world.client.seed(PODS, with_disks("q", "b", "d2"))
    world.settle()

    assert (world.disks.done, listed) == (["attach d1 a", "attach d2 b"], [])


def test_pods_without_volumes_of_storage_are_not_looked_at():
    plain = pod("q", "a")
    plain["spec"]["volumes"] = [{"name": "token", "projected": {"sources": []}}]
    world = World(with_disks("p", "a", "d1"), plain)

    found = world.plugins[0].informers.informer(PODS).by_index("attachdetach/node", "a")

    assert [one["metadata"]["name"] for one in found] == ["p"]


def status_of(name, *volumes):
    rows = [{"name": volume, "devicePath": "/d"} for volume in volumes]
    return {"metadata": {"name": name}, "status": {"volumesAttached": rows}}


def test_the_status_of_a_node_is_believed_once_and_again_when_one_of_its_name_comes():
    actual = ActualStateOfWorld()
    actual.mark_uncertain("a", "x")
    actual.populate(status_of("a", "x", "y"))
    assert actual.attached_to("a") == {"x": AttachState.UNCERTAIN, "y": AttachState.ATTACHED}
    assert (actual.nodes_with("x"), actual.nodes_with("y")) == ([], ["a"])

    actual.mark_detached("a", "x")
    actual.mark_detached("a", "y")
    actual.populate(status_of("a", "y"))
    assert (actual.attached_to("a"), actual.nodes_with("y")) == ({}, [])

    actual.forget("a")
    actual.populate(status_of("a", "y"))
    assert actual.nodes_with("y") == ["a"]


def test_a_node_that_has_a_volume_is_not_forgotten():
    actual = ActualStateOfWorld()
    actual.mark_attached("a", "x", "/d")
    actual.forget("a")

    assert actual.nodes_with("x") == ["a"]


def test_which_nodes_have_a_volume_for_sure():
    actual = ActualStateOfWorld()
    for name in ("b", "a", "c"):
        actual.mark_attached(name, "x", f"/dev/{name}")
    actual.mark_uncertain("c", "x")
    assert actual.nodes_with("x") == ["a", "b"]

    actual.mark_attached("c", "x", "/dev/c")
    actual.mark_detached("a", "x")
    assert actual.nodes_with("x") == ["b", "c"]
    assert actual.take_report("b") == [{"name": "x", "devicePath": "/dev/b"}]
