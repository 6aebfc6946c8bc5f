"""Which volume of the cluster stands behind a pod's claim."""

import pytest
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.objects.token_manager import TokenManager
from hyperkube_host.kubelet.volumemanager.volume_manager import MountFailed, VolumeManager

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import NotFound

POD = {
    "metadata": {"name": "web", "namespace": "d", "uid": "1"},
    "spec": {
        "containers": [],
        "volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}],
    },
}
VOLUME = {"spec": {"hostPath": {"path": "/data"}}}


class HostPaths:
    """Mounts nothing; the path is that of the host."""

    def supports(self, volume):
        return "hostPath" in volume

    def setup(self, request):
        return request.volume["hostPath"]["path"]


class Api:
    """Has one claim for the pod's ephemeral volume, controlled as a test says."""

    def __init__(self, owner, phase="Bound"):
        owners = [{"kind": "Pod", "name": "web", "uid": owner, "controller": True}]
        meta = {"name": "web-scratch", "namespace": "d", "ownerReferences": owners}
        self.objects = {
            "persistentvolumeclaims/d/web-scratch": {
                "metadata": meta, "spec": {"volumeName": "pv"}, "status": {"phase": phase},
            },
            "persistentvolumes//pv": VOLUME,
        }  # fmt: skip
        self.config_map = self.secret = None

    def get(self, resource, namespace, name):
        try:
            return self.objects[f"{resource.resource}/{namespace}/{name}"]
        except KeyError:
            raise NotFound(name) from None


def set_up(folder, api):
    directories = KubeletDirectories(folder)
    return VolumeManager(
        directories, [("kubernetes.io/host-path", HostPaths())], api, TokenManager(None, FakeClock()), dict
    ).setup(POD)


def test_an_ephemeral_volume_is_the_one_of_the_claim_that_was_made_for_it(tmp_path):
    assert set_up(tmp_path, Api("1")) == {"scratch": "/data"}


def test_a_claim_of_that_name_that_was_made_for_another_pod_is_not_mounted(tmp_path):
    with pytest.raises(MountFailed, match=r"PVC d/web-scratch was not created for pod d/web \(pod is not owner\)"):
        set_up(tmp_path, Api("2"))


def test_a_claim_that_is_not_bound_is_waited_for(tmp_path):
    with pytest.raises(MountFailed, match="PVC d/web-scratch is not bound"):
        set_up(tmp_path, Api("1", phase="Pending"))
