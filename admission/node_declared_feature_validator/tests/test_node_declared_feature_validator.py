"""NodeDeclaredFeatureValidator: changes that a node can follow, and others."""

import pytest
from hyperkube_admission.node_declared_feature_validator import NodeDeclaredFeatureValidator

from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract

CPU, POD = "GuaranteedQoSPodCPUResize", "InPlacePodLevelResourcesVerticalScaling"


def node(*features):
    return {"metadata": {"name": "n"}, "status": {"declaredFeatures": list(features)}}


def pod(cpu="1", *, on="n", qos="Guaranteed", whole=None, image="i"):
    amounts = {"cpu": cpu, "memory": "1Mi"}
    container = {"name": "c", "image": image, "resources": {"requests": amounts, "limits": amounts}}
    spec = {"containers": [container]} | ({"nodeName": on} if on else {}) | ({"resources": whole} if whole else {})
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": spec, "status": {"qosClass": qos}}


def update(new, old=None, *features, on=True, there=True, subresource="resize"):
    rig = AdmissionRig(NodeDeclaredFeatureValidator, gates={"NodeDeclaredFeatures": on})
    if there:
        rig.seed(NODES, node(*features))
    return rig.update(PODS, old or pod(), new, subresource=subresource)


class TestPromises(AdmissionContract):
    plugin = NodeDeclaredFeatureValidator
    acts = False  # its gate is off by default

    def concerned(self, rig):
        return [rig.request("UPDATE", PODS, pod("2"), pod(), subresource="resize")]


@pytest.mark.parametrize(
    "call",
    [
        lambda: update(pod("2"), None, CPU),
        lambda: update(pod("2", on=""), pod(on="")),
        lambda: update(pod("2", qos="Burstable"), pod(qos="Burstable")),
        lambda: update(pod(image="other"), subresource=""),
        lambda: update(pod("1000m")),
        lambda: update(pod("2"), subresource="status"),
        lambda: update(pod("2"), on=False),
        lambda: update(pod(whole={"requests": {"cpu": "1"}}), None, POD),
    ],
    ids=["declared", "no node yet", "not guaranteed", "other part", "same amount", "status", "gate off", "whole pod"],
)
def test_these_pass(call):
    assert call()["spec"]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: update(pod("2")), f'pod update requires features {CPU} which are not available on node "n"'),
        (
            lambda: update(pod("2", whole={"requests": {"cpu": "2"}}), None, "Other"),
            f'pod update requires features {CPU}, {POD} which are not available on node "n"',
        ),
        (lambda: update(pod("2"), there=False), 'node "n" not found'),
    ],
    ids=["cpu", "both", "no such node"],
)
def test_these_are_refused(call, text):
    with pytest.raises(Forbidden) as refusal:
        call()
    assert refusal.value.message == text
