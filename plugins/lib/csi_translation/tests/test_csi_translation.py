"""Volumes and classes of kinds that have left the tree, as their drivers know them, and back.

Source of the cases: csi-translation-lib ``plugins/*_test.go``, ``translate_test.go``.
"""

import pytest
from hyperkube_lib.csi_translation import (
    IN_TREE,
    TranslationFailed,
    repaired_handle,
    translated_back,
    translated_class,
    translated_inline,
    translated_volume,
)

ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION, OLD_REGION = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"
EBS = "topology.ebs.csi.aws.com/zone"
DISK = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d"


def volume(source, field, terms=(), labels=None, **spec):
    meta = {"name": "pv", **({"labels": labels} if labels else {})}
    more = {"nodeAffinity": {"required": {"nodeSelectorTerms": list(terms)}}} if terms else {}
    return {"kind": "PersistentVolume", "metadata": meta, "spec": {source: field, **more, **spec}}


def term(**rows):
    return {"matchExpressions": [{"key": key, "operator": "In", "values": values} for key, values in rows.items()]}


CASES = [
    ("awsElasticBlockStore", {"volumeID": "aws://us-east-1a/vol-1", "fsType": "ext4", "partition": 2, "readOnly": True},
     {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1", "fsType": "ext4", "readOnly": True,
      "volumeAttributes": {"partition": "2"}}),
    ("gcePersistentDisk", {"pdName": "d", "partition": 1},
     {"driver": "pd.csi.storage.gke.io", "volumeHandle": "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d",
      "volumeAttributes": {"partition": "1"}}),
    ("azureDisk", {"diskName": "d", "diskURI": DISK, "kind": "Managed", "fsType": "xfs", "cachingMode": "None"},
     {"driver": "disk.csi.azure.com", "volumeHandle": DISK, "fsType": "xfs",
      "volumeAttributes": {"kind": "Managed", "csi-migration": "true", "fsType": "xfs", "cachingMode": "None"}}),
    ("azureFile", {"shareName": "s", "secretName": "azure-storage-account-a-secret", "secretNamespace": "ns"},
     {"driver": "file.csi.azure.com", "volumeHandle": "#a#s#", "volumeAttributes": {"sharename": "s"},
      "nodeStageSecretRef": {"name": "azure-storage-account-a-secret", "namespace": "ns"}}),
    ("cinder", {"volumeID": "c", "readOnly": True},
     {"driver": "cinder.csi.openstack.org", "volumeHandle": "c", "readOnly": True, "volumeAttributes": {}}),
    ("vsphereVolume", {"volumePath": "[d] v.vmdk", "fsType": "ext4", "storagePolicyName": "gold"},
     {"driver": "csi.vsphere.vmware.com", "volumeHandle": "[d] v.vmdk", "fsType": "ext4",
      "volumeAttributes": {"storagepolicyname": "gold"}}),
    ("portworxVolume", {"volumeID": "p", "fsType": "ext4"},
     {"driver": "pxd.portworx.com", "volumeHandle": "p", "fsType": "ext4", "volumeAttributes": {}}),
]  # fmt: skip


@pytest.mark.parametrize(("source", "field", "csi"), CASES, ids=[case[0] for case in CASES])
def test_a_volume_has_the_drivers_words(source, field, csi):
    before = volume(source, field)

    assert translated_volume(before)["spec"] == {"csi": csi}
    assert before == volume(source, field)


def test_there_is_a_case_for_each_kind():
    assert {case[0] for case in CASES} == {kind.source for kind in IN_TREE}
    assert translated_volume(volume("hostPath", {"path": "/"})) == volume("hostPath", {"path": "/"})


@pytest.mark.parametrize(("source", "field", "csi"), CASES, ids=[case[0] for case in CASES])
def test_what_a_driver_made_is_told_in_the_old_words(source, field, csi):
    """A round trip, but for what the old names said otherwise: a zone, or a path that the driver tells itself."""
    if source == "vsphereVolume":
        csi = {**csi, "volumeAttributes": {"initialvolumefilepath": "[d] v.vmdk"}}
    wanted = {key: value for key, value in field.items() if key != "storagePolicyName"}

    found = translated_back(volume("csi", csi))["spec"][source]

    assert found == wanted | ({"volumeID": "vol-1"} if source == "awsElasticBlockStore" else {})


def test_a_driver_that_took_over_nothing_has_no_old_words():
    with pytest.raises(TranslationFailed, match=r"could not find in-tree plugin translation logic for x.example.com"):
        translated_back(volume("csi", {"driver": "x.example.com", "volumeHandle": "h"}))


@pytest.mark.parametrize(
    ("source", "field", "text"),
    [
        ("awsElasticBlockStore", {"volumeID": "aws://z/xol-1"}, "Invalid format for AWS volume"),
        ("gcePersistentDisk", {"pdName": "d"}, "multiple or no regions gotten from zones"),
    ],
)
def test_what_cannot_be_said_is_refused(source, field, text):
    with pytest.raises(TranslationFailed, match=text):
        translated_volume(volume(source, field, labels={ZONE: "us-east1-a__us-west1-c"}))


@pytest.mark.parametrize(
    ("terms", "labels", "moved"),
    [
        ([term(**{ZONE: ["a"]})], {}, [term(**{EBS: ["a"]})]),
        ([term(**{OLD_ZONE: ["a"], OLD_REGION: ["r"]})], {}, [term(**{EBS: ["a"], REGION: ["r"]})]),
        ([], {ZONE: "a__b"}, [term(**{EBS: ["a", "b"]})]),
        ([term(other=["x"])], {OLD_ZONE: "a"}, [term(**{"other": ["x"], EBS: ["a"]})]),
        ([term(**{ZONE: ["a"]})], {ZONE: "b"}, [term(**{EBS: ["a"]})]),
    ],
    ids=["terms", "old terms", "label", "label beside terms", "terms before label"],
)
def test_zones_are_named_by_the_drivers_label(terms, labels, moved):
    found = translated_volume(volume("awsElasticBlockStore", {"volumeID": "vol-1"}, terms, labels))

    assert found["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] == moved


def test_zones_are_named_by_the_nodes_labels_again():
    csi = {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1"}

    found = translated_back(volume("csi", csi, [term(**{EBS: ["us-east-1a"]})]))

    assert found["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] == [
        term(**{ZONE: ["us-east-1a"], REGION: ["us-east-1"]})
    ]
    assert found["metadata"]["labels"] == {ZONE: "us-east-1a", REGION: "us-east-1"}


VS_ZONE, VS_REGION = "topology.csi.vmware.com/zone", "topology.csi.vmware.com/region"


@pytest.mark.parametrize(
    ("terms", "labels", "moved"),
    [
        pytest.param([term(**{ZONE: ["z"], REGION: ["r"]})], {}, [term(**{VS_ZONE: ["z"], VS_REGION: ["r"]})], id="GA"),
        pytest.param(
            [term(**{OLD_ZONE: ["z"], OLD_REGION: ["r"]})], {}, [term(**{VS_ZONE: ["z"], VS_REGION: ["r"]})], id="beta"
        ),
        pytest.param([], {ZONE: "z", REGION: "r"}, [term(**{VS_ZONE: ["z"], VS_REGION: ["r"]})], id="labels"),
        pytest.param(
            [], {OLD_ZONE: "z", OLD_REGION: "r"}, [term(**{VS_ZONE: ["z"], VS_REGION: ["r"]})], id="beta ones"
        ),
        pytest.param([], {ZONE: "a__b"}, [term(**{VS_ZONE: ["a__b"]})], id="a label is one zone"),
        pytest.param(
            [term(other=["x"])], {ZONE: "z"}, [term(**{"other": ["x"], VS_ZONE: ["z"]})], id="a label beside terms"
        ),
        pytest.param(
            [term(**{ZONE: ["z"]})], {REGION: "r"}, [term(**{VS_ZONE: ["z"], VS_REGION: ["r"]})], id="a region's label"
        ),
    ],
)
def test_zones_and_regions_of_vsphere(terms, labels, moved):
    found = translated_volume(volume("vsphereVolume", {"volumePath": "[d] v.vmdk"}, terms, labels))

    assert found["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] == moved


@pytest.mark.parametrize(
    ("labels", "zone", "region"),
    [({}, ZONE, REGION), ({OLD_ZONE: "z2"}, OLD_ZONE, OLD_REGION)],
    ids=["newer labels", "the volume has the old ones"],
)
def test_zones_and_regions_of_vsphere_in_the_old_words(labels, zone, region):
    csi = {"driver": "csi.vsphere.vmware.com", "volumeHandle": "h"}
    terms = [term(**{VS_ZONE: ["z1", "z2"], VS_REGION: ["r"]})]

    found = translated_back(volume("csi", csi, terms, labels))

    assert found["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] == [
        term(**{zone: ["z1", "z2"], region: ["r"]})
    ]
    assert found["metadata"]["labels"] == {zone: "z1", region: "r"} | labels


def test_a_class_of_vsphere_has_the_drivers_zones():
    rows = [{"key": OLD_ZONE, "values": ["z"]}, {"key": "other", "values": ["x"]}]
    given = {"provisioner": "kubernetes.io/vsphere-volume", "allowedTopologies": [{"matchLabelExpressions": rows}]}

    (moved,) = translated_class(given)["allowedTopologies"]

    assert [row["key"] for row in moved["matchLabelExpressions"]] == [VS_ZONE, "other"]


@pytest.mark.parametrize(
    ("modes", "found"),
    [
        (["ReadWriteMany"], ["ReadWriteOnce"]),
        (["ReadOnlyMany"], ["ReadOnlyMany"]),
        (["ReadOnlyMany", "ReadWriteOnce"], ["ReadWriteOnce"]),
    ],
)
def test_access_modes_that_the_driver_of_google_takes(modes, found):
    assert (
        translated_volume(volume("gcePersistentDisk", {"pdName": "d"}, accessModes=modes))["spec"]["accessModes"]
        == found
    )


@pytest.mark.parametrize(
    ("source", "field", "name", "mode"),
    [
        ("awsElasticBlockStore", {"volumeID": "aws://a/vol-1"}, "ebs.csi.aws.com-vol-1", "ReadWriteOnce"),
        ("gcePersistentDisk", {"pdName": "d", "readOnly": True}, "pd.csi.storage.gke.io-d", "ReadOnlyMany"),
        ("azureDisk", {"diskName": "d", "diskURI": DISK}, "disk.csi.azure.com-d", "ReadWriteOnce"),
        ("azureFile", {"shareName": "s", "secretName": "x"}, "file.csi.azure.com-s", "ReadWriteMany"),
        ("vsphereVolume", {"volumePath": "p"}, "csi.vsphere.vmware.com-p", "ReadWriteOnce"),
        ("portworxVolume", {"volumeID": "p"}, "pxd.portworx.com-p", "ReadWriteOnce"),
    ],
)
def test_a_volume_of_a_pod_is_a_volume_with_a_name_of_its_own(source, field, name, mode):
    found = translated_inline({"name": "v", source: field}, "shop")

    assert (found["metadata"]["name"], found["spec"]["accessModes"]) == (name, [mode])
    assert found["spec"]["volumeMode"] == "Filesystem"
    assert found["spec"]["csi"].get("nodeStageSecretRef", {"namespace": "shop"})["namespace"] == "shop"
    assert translated_inline({"name": "v", "emptyDir": {}}, "shop") is None


@pytest.mark.parametrize(
    ("provisioner", "parameters", "found", "zones"),
    [
        ("aws-ebs", {"fsType": "ext3", "type": "gp3", "zones": "a,b"},
         {"csi.storage.k8s.io/fstype": "ext3", "type": "gp3"}, (EBS, ["a", "b"])),
        ("gce-pd", {"zone": "a"}, {}, ("topology.gke.io/zone", ["a"])),
        ("azure-disk", {"fsType": "xfs", "zone": "1"}, {"fsType": "xfs", "csi-migration": "true"},
         ("topology.disk.csi.azure.com/zone", ["1"])),
        ("azure-file", {"skuName": "x"}, {"skuName": "x"}, None),
        ("cinder", {"availability": "nova", "fsType": "xfs"},
         {"availability": "nova", "csi.storage.k8s.io/fstype": "xfs"}, None),
        ("vsphere-volume", {"diskformat": "thin", "storagePolicyName": "gold", "other": "x"},
         {"diskformat-migrationparam": "thin", "storagepolicyname": "gold", "csimigration": "true"}, None),
        ("portworx-volume", {"repl": "2"}, {"repl": "2"}, None),
    ],
)  # fmt: skip
def test_a_class_is_the_drivers(provisioner, parameters, found, zones):
    made = translated_class({"provisioner": f"kubernetes.io/{provisioner}", "parameters": parameters})

    assert made["parameters"] == found
    wanted = [{"matchLabelExpressions": [{"key": zones[0], "values": zones[1]}]}] if zones else None
    assert made.get("allowedTopologies") == wanted
    assert made["provisioner"] in {kind.driver for kind in IN_TREE}


def test_a_class_may_name_zones_once_only():
    given = {"provisioner": "kubernetes.io/aws-ebs", "parameters": {"zone": "a"}}
    allowed = [{"matchLabelExpressions": [{"key": OLD_ZONE, "values": ["a"]}, {"key": "other", "values": ["x"]}]}]

    moved = translated_class({**given, "parameters": {}, "allowedTopologies": allowed})["allowedTopologies"]

    assert [row["key"] for row in moved[0]["matchLabelExpressions"]] == [EBS, "other"]
    with pytest.raises(
        TranslationFailed, match="cannot simultaneously set allowed topologies and zone/zones parameters"
    ):
        translated_class({**given, "allowedTopologies": allowed})
    assert translated_class({"provisioner": "example.com/p"}) == {"provisioner": "example.com/p"}


@pytest.mark.parametrize(
    ("handle", "found"),
    [
        ("projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d", "projects/p/zones/us-east1-b/disks/d"),
        ("projects/UNSPECIFIED/zones/us-east1-a/disks/d", "projects/p/zones/us-east1-a/disks/d"),
        ("projects/UNSPECIFIED/regions/UNSPECIFIED/disks/d", "projects/p/regions/us-east1/disks/d"),
        ("projects/known/zones/z/disks/d", "projects/known/zones/z/disks/d"),
        ("vol-1", "vol-1"),
    ],
)
def test_a_handle_is_completed_by_the_node(handle, found):
    assert repaired_handle(handle, "projects/p/zones/us-east1-b/instances/i") == found


@pytest.mark.parametrize(
    ("attributes", "group"),
    [({}, "rg"), ({"shareName": "s"}, "rg"), ({"shareName": "s", "secretName": "x"}, None)],
    ids=["neither", "share", "share-and-secret"],
)
def test_a_share_keeps_its_resource_group_where_its_handle_is_read(attributes, group):
    csi = {"driver": "file.csi.azure.com", "volumeHandle": "rg#a#s#", "volumeAttributes": attributes}
    moved = translated_back({"metadata": {"name": "pv"}, "spec": {"csi": csi}})

    assert (moved["metadata"].get("annotations") or {}).get("kubernetes.io/azure-file-resource-group") == group
    assert translated_volume(moved)["spec"]["csi"]["volumeHandle"] == (f"{group}#a#s#" if group else "#x#s#")
