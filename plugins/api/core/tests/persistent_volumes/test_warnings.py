"""Warnings for persistent volumes and claims to them."""

import pytest
from hyperkube_api.core.persistent_volume_claims.warnings import claim_object_warnings, claim_template_warnings
from hyperkube_api.core.persistent_volumes.warnings import persistent_volume_warnings

CLASS = "volume.beta.kubernetes.io/storage-class"
OLD_CLASS = f'metadata.annotations[{CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead'
ZONE = {"matchExpressions": [{"key": "foo"}, {"key": "failure-domain.beta.kubernetes.io/zone", "values": ["-1"]}]}


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"hostPath": {}}, []),
        ({"persistentVolumeReclaimPolicy": "Recycle"},
         [("persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach "
         "is to use dynamic provisioning.")]),
        ({"nodeAffinity": {"required": {"nodeSelectorTerms": [ZONE]}}},
         [("nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[1].key: failure-domain.beta.kubernetes.io/zone "
         'is deprecated since v1.17; use "topology.kubernetes.io/zone" instead')]),
        ({"cephfs": {}}, ["cephfs: deprecated in v1.28, non-functional in v1.31+"]),
        ({"photonPersistentDisk": {}}, ["photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+"]),
        ({"scaleIO": {}}, ["scaleIO: deprecated in v1.16, non-functional in v1.22+"]),
        ({"storageos": {}}, ["storageOS: deprecated in v1.22, non-functional in v1.25+"]),
        ({"glusterfs": {}}, ["glusterfs: deprecated in v1.25, non-functional in v1.26+"]),
        ({"rbd": {}}, ["rbd: deprecated in v1.28, non-functional in v1.31+"]),
        ({"flocker": {}}, []),
    ],
)  # fmt: skip
def test_volumes(spec, found):
    assert persistent_volume_warnings({"spec": spec}) == [f"spec.{text}" for text in found]


def test_a_class_in_an_annotation():
    meta = {"annotations": {CLASS: "x"}}

    assert persistent_volume_warnings({"metadata": meta}) == [OLD_CLASS]
    assert claim_object_warnings({"metadata": meta}) == [OLD_CLASS]


def test_mount_options_in_an_annotation():
    option = "volume.beta.kubernetes.io/mount-options"
    meta = {"annotations": {option: "ro", CLASS: "x"}}

    assert persistent_volume_warnings({"metadata": meta}) == [
        OLD_CLASS,
        f'metadata.annotations[{option}]: deprecated since v1.31; use "mountOptions" attribute instead',
    ]
    assert claim_object_warnings({"metadata": meta}) == [OLD_CLASS]


def test_amounts_of_claims_are_whole_bytes():
    spec = {"resources": {"requests": {"storage": "200m"}, "limits": {"storage": "1500m"}}}
    found = [
        'resources.requests[storage]: fractional byte value "200m" is invalid, must be an integer',
        'resources.limits[storage]: fractional byte value "1500m" is invalid, must be an integer',
    ]

    assert claim_object_warnings({"spec": spec}) == [f"spec.{text}" for text in found]
    assert claim_template_warnings([{}, {"spec": spec}], is_new=True) == [
        f"spec.volumeClaimTemplates[1].{text}" for text in found
    ]
    assert claim_template_warnings([{"spec": spec}], is_new=False) == [
        f"spec.volumeClaimTemplates[0].Spec.{text}" for text in found
    ]
    assert claim_object_warnings({"spec": {"resources": {"requests": {"storage": "1Gi"}}}}) == []
