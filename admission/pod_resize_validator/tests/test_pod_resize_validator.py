"""PodResizeValidator: what a node can hold, and what it cannot."""

import pytest
from hyperkube_admission.pod_resize_validator import PodResizeValidator

from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.admission_rig import AdmissionRig
from hyperkube.testing.contracts.admission import AdmissionContract


def node(name="n", system="linux", cpu="2", memory="1Gi"):
    labels = {"kubernetes.io/os": system} if system else {}
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"cpu": cpu, "memory": memory}}}


def pod(cpu="1", memory="64Mi", on="n"):
    container = {"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    spec = {"containers": [container], **({"nodeName": on} if on else {})}
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": spec}


def resize(new, old=None, *, nodes=(), gates=None, subresource="resize"):
    rig = AdmissionRig(PodResizeValidator, gates=gates)
    rig.seed(NODES, *(nodes or [node()]))
    return rig.update(PODS, old or pod(), new, subresource=subresource)


class TestPromises(AdmissionContract):
    plugin = PodResizeValidator

    def populate(self, rig):
        rig.client.seed(NODES, node())

    def concerned(self, rig):
        return [rig.request("UPDATE", PODS, pod(cpu="3"), pod(), subresource="resize")]


@pytest.mark.parametrize(
    "call",
    [
        lambda: resize(pod(cpu="2")),
        lambda: resize(pod(cpu="3", on=""), pod(on="")),
        lambda: resize(pod(cpu="3"), pod(cpu="3")),
        lambda: resize(pod(cpu="3"), subresource=""),
        lambda: resize(pod(cpu="3"), gates={"InPlacePodVerticalScaling": False}),
    ],
    ids=["exactly all", "no node yet", "nothing changes", "another part", "gate off"],
)
def test_these_pass(call):
    assert call()["spec"]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: resize(pod(cpu="2500m", memory="2Gi")),
            (
                "Node didn't have enough allocatable resources: cpu, requested: 2500, allocatable: 2000; "
                "memory, requested: 2147483648, allocatable: 1073741824"
            ),
        ),
        (lambda: resize(pod(cpu="1500m"), nodes=[node("other")]), 'node "n" not found'),
        (
            lambda: resize(pod(cpu="1500m"), nodes=[node(system="windows")]),
            'pod resize is only supported on linux nodes, node "n" is "windows"',
        ),
        (
            lambda: resize(pod(cpu="1500m"), nodes=[node(system="")]),
            'pod resize is only supported on linux nodes, node "n" is ""',
        ),
    ],
    ids=["too much", "no such node", "windows", "unknown system"],
)
def test_these_are_refused(call, text):
    with pytest.raises(Forbidden) as refusal:
        call()
    assert refusal.value.message == text
