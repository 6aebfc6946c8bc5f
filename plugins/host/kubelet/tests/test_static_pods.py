"""Static pods wait for nothing: the API server that the node is to register with may be one of them."""

import importlib.util
import sys
from pathlib import Path

import pytest

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.waiting import eventually as until

pytest.importorskip("hyperkube_runtime.hollow", reason="simulates pods")

_spec = importlib.util.spec_from_file_location("kubelet_rig", Path(__file__).with_name("rig.py"))
rig_module = sys.modules.setdefault("kubelet_rig", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(rig_module)

MANIFEST = "{apiVersion: v1, kind: Pod, metadata: {name: master}, spec: {containers: [{name: api, image: x}]}}"


class Absent(FakeClient):
    """An API server that is not there yet."""

    absent = True

    def create(self, resource, obj, namespace="", **more):
        if self.absent and resource == NODES:
            raise ConnectionRefusedError(111, "Connection refused")
        return super().create(resource, obj, namespace, **more)


@pytest.fixture
def rig(tmp_path):
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "master.yaml").write_text(MANIFEST)
    folder = str(tmp_path / "manifests")
    rig = rig_module.Rig(tmp_path, Absent(SystemClock()), "hollow", **{"pod-manifest-path": folder})
    rig.kubelet.start()
    yield rig
    rig.kubelet.close()


def test_a_static_pod_runs_before_the_node_is_registered_and_others_do_not(rig):
    rig.create()

    until(rig.kubelet.runtime.sandboxes)

    assert not rig.kubelet.node.is_registered
    assert {one.name for one in rig.kubelet.runtime.sandboxes()} == {"master-n1"}
    assert [pod["metadata"]["name"] for pod in rig.client.objects(PODS)] == ["p"]


def test_its_mirror_comes_with_the_node(rig):
    until(rig.kubelet.runtime.sandboxes)

    rig.client.absent = False

    pod = until(lambda: next((pod for pod in rig.client.objects(PODS)), None))
    assert pod["metadata"]["name"] == "master-n1"
    assert pod["metadata"]["ownerReferences"][0]["name"] == "n1"
    until(lambda: rig.status("master-n1").get("phase") == "Running")
