"""The podgroup-protection controller: groups stay while their pods run."""

from dataclasses import replace

import pytest
from hyperkube_controller.podgroup_protection import FINALIZER, PodgroupProtection

from hyperkube.kinds.resources import POD_GROUPS, PODS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

GONE = {"deletionTimestamp": "2024-01-01T00:00:00Z"}


class WithGroups(PodgroupProtection):
    def __init__(self, context):
        super().__init__(replace(context, gates={"GenericWorkload": True}))


def group(*finalizers, **meta):
    return {"metadata": {"name": "g", "namespace": "d", "finalizers": list(finalizers), **meta}, "spec": {}}


def pod(phase="Running", of="g"):
    spec = {"schedulingGroup": {"podGroupName": of}, "nodeName": "n"}
    return {"metadata": {"name": "p", "namespace": "d", "uid": "u"}, "spec": spec, "status": {"phase": phase}}


def settled(*objects, plugin=WithGroups):
    rig = ControllerRig(plugin)
    for resource, one in objects:
        rig.client.seed(resource, one)
    rig.settle()
    return rig


def held(rig):
    return [FINALIZER in (one["metadata"].get("finalizers") or ()) for one in rig.client.objects(POD_GROUPS)]


class TestContract(ControllerContract):
    plugin = WithGroups

    def populate(self, rig):
        rig.client.seed(POD_GROUPS, group(FINALIZER, **GONE))


@pytest.mark.parametrize("pods", [[pod()], [pod("Pending")]])
def test_a_group_with_pods_that_may_run_stays(pods):
    assert held(settled((POD_GROUPS, group(FINALIZER, "a/b", **GONE)), *((PODS, one) for one in pods))) == [True]


@pytest.mark.parametrize("pods", [[], [pod("Succeeded")], [pod("Failed")], [pod(of="other")]])
def test_a_deleted_group_without_such_pods_may_go(pods):
    assert held(settled((POD_GROUPS, group(FINALIZER, "a/b", **GONE)), *((PODS, one) for one in pods))) == [False]


def test_the_last_pod_sets_its_group_free():
    rig = settled((POD_GROUPS, group(FINALIZER, "a/b", **GONE)), (PODS, pod()))
    before = held(rig)

    rig.client.delete(PODS, "p", "d", options={"gracePeriodSeconds": 0})
    rig.settle()

    assert (before, held(rig)) == ([True], [False])


def test_a_group_that_lacks_protection_gets_it_with_its_first_pod():
    rig = settled((POD_GROUPS, group()))
    before = held(rig)

    waiting = pod("Pending")
    del waiting["spec"]["nodeName"]
    rig.client.seed(PODS, waiting)
    rig.settle()

    assert (before, held(rig)) == ([False], [True])


def test_nothing_happens_with_the_gate_off():
    assert held(settled((POD_GROUPS, group(FINALIZER, "a/b", **GONE)), plugin=PodgroupProtection)) == [True]
