"""What drivers call the disks that they took over.

Source of the cases: kubernetes ``staging/src/k8s.io/csi-translation-lib/plugins/`` (aws_ebs_test.go, gce_pd_test.go).
"""

import pytest
from hyperkube_lib.scheduling.csi_migration import MIGRATED_PLUGINS, handle_of, of_provisioner, of_volume

ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"


@pytest.mark.parametrize(
    ("name", "handle"),
    [
        ("vol-02399794d890f9375", "vol-02399794d890f9375"),
        ("aws:///vol-02399794d890f9375", "vol-02399794d890f9375"),
        ("aws://us-west-2a/vol-02399794d890f9375", "vol-02399794d890f9375"),
        ("aws://us-west-2/vol-02399794d890f9375/volid", ""),
        ("aws://us-west-2a/xol-02399794d890f9375", ""),
    ],
)
def test_disks_of_amazon(name, handle):
    assert handle_of({"awsElasticBlockStore": {"volumeID": name}}) == handle


@pytest.mark.parametrize(
    ("labels", "handle"),
    [
        ({}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"),
        ({ZONE: "us-east1-a"}, "projects/UNSPECIFIED/zones/us-east1-a/disks/d"),
        ({OLD_ZONE: "us-east1-b"}, "projects/UNSPECIFIED/zones/us-east1-b/disks/d"),
        ({ZONE: "us-east1-a__us-east1-c"}, "projects/UNSPECIFIED/regions/us-east1/disks/d"),
        ({ZONE: "us-east1-a__us-west1-c"}, ""),
    ],
)
def test_disks_of_google(labels, handle):
    assert handle_of({"gcePersistentDisk": {"pdName": "d"}}, {"metadata": {"labels": labels}}) == handle


def test_where_a_driver_took_over():
    ebs, portworx = of_volume({"awsElasticBlockStore": {}}), of_provisioner("kubernetes.io/portworx-volume")
    told = {"metadata": {"annotations": {MIGRATED_PLUGINS: "kubernetes.io/aws-ebs,kubernetes.io/portworx-volume"}}}

    assert [ebs.is_on(node) for node in (None, {"metadata": {}}, told)] == [False, True, True]
    assert [portworx.is_on(node) for node in (None, {"metadata": {}}, told)] == [False, False, True]
    assert of_volume({"hostPath": {}}) is None
    assert of_provisioner("example.com/p") is None
