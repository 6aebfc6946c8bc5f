"""Each of the kinds of volumes that Kubernetes has had in its tree: by which plugin or driver it is served, or refused.

The names are those of the plugins of 1.20 (``cmd/kubelet/app/plugins.go`` and its platform files).
"""

import pytest
from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolumes

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs import volume as volume_specs
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin import PluginContext, load
from hyperkube.plugin.loader import installed

POD = {"metadata": {"name": "p", "namespace": "shop", "uid": "u"}, "spec": {}}
CLAIM = {"spec": {"volumeName": "pv"}, "status": {"phase": "Bound"}, "metadata": {"name": "c", "uid": "uc"}}
PLUGIN, DRIVER, REFUSED = "plugin", "driver", "refused"
ROWS = [
    ("aws-ebs", "awsElasticBlockStore", {"volumeID": "vol-1"}, DRIVER, "ebs.csi.aws.com"),
    ("gce-pd", "gcePersistentDisk", {"pdName": "d"}, DRIVER, "pd.csi.storage.gke.io"),
    ("cinder", "cinder", {"volumeID": "c"}, DRIVER, "cinder.csi.openstack.org"),
    ("azure-disk", "azureDisk", {"diskName": "d", "diskURI": "u"}, DRIVER, "disk.csi.azure.com"),
    ("azure-file", "azureFile", {"secretName": "s", "shareName": "f"}, DRIVER, "file.csi.azure.com"),
    ("vsphere-volume", "vsphereVolume", {"volumePath": "[d] v"}, DRIVER, "csi.vsphere.vmware.com"),
    ("portworx-volume", "portworxVolume", {"volumeID": "p"}, DRIVER, "pxd.portworx.com"),
    ("empty-dir", "emptyDir", {}, PLUGIN, "kubernetes.io/empty-dir"),
    ("git-repo", "gitRepo", {"repository": "r"}, PLUGIN, "kubernetes.io/git-repo"),
    ("host-path", "hostPath", {"path": "/"}, PLUGIN, "kubernetes.io/host-path"),
    ("nfs", "nfs", {"server": "s", "path": "/"}, PLUGIN, "kubernetes.io/nfs"),
    ("secret", "secret", {"secretName": "s"}, PLUGIN, "kubernetes.io/secret"),
    ("iscsi", "iscsi", {"targetPortal": "127.0.0.1", "iqn": "iqn.x:y", "lun": 0}, PLUGIN, "kubernetes.io/iscsi"),
    ("downward-api", "downwardAPI", {"items": []}, PLUGIN, "kubernetes.io/downward-api"),
    ("fc", "fc", {"targetWWNs": ["5"], "lun": 0}, PLUGIN, "kubernetes.io/fc"),
    ("configmap", "configMap", {"name": "c"}, PLUGIN, "kubernetes.io/configmap"),
    ("projected", "projected", {"sources": []}, PLUGIN, "kubernetes.io/projected"),
    ("local-volume", "local", {"path": "/"}, PLUGIN, "hyperkube.dev/local-path"),
    ("csi", "csi", {"driver": "x", "volumeHandle": "h"}, PLUGIN, "kubernetes.io/csi"),
    ("flexvolume", "flexVolume", {"driver": "acme/none"}, REFUSED, "'flexVolume' of driver 'acme/none'"),
    ("glusterfs", "glusterfs", {"endpoints": "e", "path": "v"}, PLUGIN, "kubernetes.io/glusterfs"),
    ("rbd", "rbd", {"monitors": ["m"], "image": "i"}, PLUGIN, "kubernetes.io/rbd"),
    ("quobyte", "quobyte", {"registry": "r:1", "volume": "v"}, PLUGIN, "kubernetes.io/quobyte"),
    ("cephfs", "cephfs", {"monitors": ["m"]}, PLUGIN, "kubernetes.io/cephfs"),
    ("flocker", "flocker", {"datasetName": "d"}, PLUGIN, "kubernetes.io/flocker"),
    ("scaleio", "scaleIO", {"gateway": "g", "system": "s", "volumeName": "v"}, PLUGIN, "kubernetes.io/scaleio"),
    ("storageos", "storageos", {"volumeName": "v"}, PLUGIN, "kubernetes.io/storageos"),
]
PERSISTENT = {"local", "csi"}


@pytest.fixture(scope="module")
def kinds():
    names = sorted(installed("volume"))
    host = load(
        "volume", names, volume_specs, lambda name: PluginContext(name=name, clock=SystemClock(), client=FakeClient())
    )
    yield list(zip(names, host.hook.volume_kinds(), strict=True))
    host.close()


class Objects:
    """A claim and its volume."""

    def __init__(self, source):
        volume = {"metadata": {"name": "pv"}, "spec": {**source, "claimRef": {"uid": "uc"}}}
        self._objects = {"persistentvolumeclaims": CLAIM, "persistentvolumes": volume}

    def get(self, resource, _namespace, _name):
        return self._objects[resource.resource]


def test_there_is_a_row_for_each_kind():
    assert len(ROWS) == len({row[0] for row in ROWS}) == 27


@pytest.mark.parametrize(("name", "field", "source", "how", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_who_serves_a_kind(kinds, name, field, source, how, expected):
    volumes = PodVolumes(kinds, Objects({field: source}))
    entry = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}} if field in PERSISTENT else {field: source}

    if how == REFUSED:
        with pytest.raises(VolumeFailed, match=f"no volume plugin handles {expected} \\(installed: "):
            volumes.resolve(POD, {"name": "v", **entry})
        return
    found = volumes.resolve(POD, {"name": "v", **entry})
    if how == DRIVER:
        assert (found.plugin_name, found.spec.volume["csi"]["driver"]) == ("kubernetes.io/csi", expected)
    else:
        assert found.plugin_name == expected
