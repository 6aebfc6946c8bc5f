"""The nodeipam controller: a range for each node, none twice."""

import pytest
from hyperkube_controller.nodeipam import Nodeipam

from hyperkube.kinds.resources import EVENTS, NODES
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

OPTIONS = {"allocate_node_cidrs": True, "cluster_cidr": "10.244.0.0/16"}


def node(name, *ranges):
    spec = {"podCIDR": ranges[0], "podCIDRs": list(ranges)} if ranges else {}
    return {"kind": "Node", "metadata": {"name": name}, "spec": spec}


class TestContract(ControllerContract):
    plugin = Nodeipam
    settings = OPTIONS

    def populate(self, rig):
        rig.client.seed(NODES, node("a"), node("b"))


def run(*nodes, **options):
    rig = ControllerRig(Nodeipam, settings={**OPTIONS, **options})
    rig.client.seed(NODES, *nodes)
    rig.settle()
    return rig


def ranges(rig):
    return {each["metadata"]["name"]: each["spec"].get("podCIDRs") for each in rig.client.objects(NODES)}


def test_each_node_gets_its_own():
    rig = run(node("a"), node("b", "10.244.0.0/24"), node("c"))

    assert ranges(rig) == {"a": ["10.244.1.0/24"], "b": ["10.244.0.0/24"], "c": ["10.244.2.0/24"]}


def test_a_range_is_free_again_when_its_node_is_gone():
    rig = run(node("a"))

    rig.client.delete(NODES, "a")
    rig.settle()
    rig.client.seed(NODES, node("b"))
    rig.settle()

    assert ranges(rig) == {"b": ["10.244.0.0/24"]}


def test_two_families():
    rig = run(node("a"), cluster_cidr="10.0.0.0/16,fd00::/48", node_cidr_mask_size_ipv4=28)

    assert ranges(rig) == {"a": ["10.0.0.0/28", "fd00::/64"]}


def test_when_all_are_taken_it_is_told():
    rig = run(node("a"), node("b"), cluster_cidr="10.0.0.0/24")
    rig.plugins[0]._recorder.flush()

    assert sorted(ranges(rig).values(), key=bool) == [None, ["10.0.0.0/24"]]
    assert rig.client.objects(EVENTS)[0]["reason"] == "CIDRNotAvailable"


def test_nothing_is_given_unless_asked():
    assert ranges(run(node("a"), allocate_node_cidrs=False)) == {"a": None}


@pytest.mark.parametrize(("option", "value"), [("cluster-cidr", ""), ("node-cidr-mask-size", 8)])
def test_options_that_do_not_fit(option, value):
    with pytest.raises(UsageError):
        run(**{option: value})
