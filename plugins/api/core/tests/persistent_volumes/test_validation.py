"""Volumes that stand in an attachment, and the shape in which a change of the source is shown."""

from hyperkube_api.core.persistent_volumes.validation import inline_volume_spec
from hyperkube_api.meta.go_shape import go_shape

from hyperkube.machinery.field import Path

AT = Path("inline")
CSI = {"driver": "d.example.com", "volumeHandle": "h"}


def test_an_inline_volume_has_no_life_of_its_own():
    spec = {
        "accessModes": ["ReadWriteOnce"], "csi": CSI, "capacity": {"storage": "1"}, "claimRef": {"name": "c"},
        "persistentVolumeReclaimPolicy": "Delete", "storageClassName": "s", "volumeMode": "Block", "nodeAffinity": {},
    }  # fmt: skip

    refused = "Forbidden: may not be specified in the context of inline volumes"
    assert [str(error) for error in inline_volume_spec(AT, spec)] == [
        f"inline.claimRef: {refused}",
        f"inline.capacity: {refused}",
        "inline.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes",
        f"inline.nodeAffinity: {refused}",
        f"inline.storageClassName: {refused}",
        f"inline.volumeMode: {refused}",
    ]


def test_an_inline_volume_is_of_csi():
    spec = {"accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}

    assert "has to be specified in the context of inline volumes" in str(inline_volume_spec(AT, spec)[0])


def test_sources_are_shown_with_the_names_and_in_the_order_of_the_internal_types():
    shape = go_shape("hyperkube_api.core.v1:PersistentVolumeSource", {"rbd": {"monitors": ["m"], "image": "i"}})

    assert list(shape)[5:9] == ["RBD", "Quobyte", "ISCSI", "FlexVolume"]
    assert list(shape["RBD"])[:5] == ["CephMonitors", "RBDImage", "FSType", "RBDPool", "RadosUser"]


def test_volumes_of_pods_have_quobyte_after_rbd():
    shape = list(go_shape("hyperkube_api.core.v1:Volume", {"name": "v"}))

    assert shape.index("Quobyte") == shape.index("RBD") + 1
