import pytest
from hyperkube_lib.pod_references import Reference, pod_references

SECRET = {"secretRef": {"name": "s"}}
VOLUMES = {
    "secret": {"secretName": "s"},
    "azureFile": {"secretName": "s", "shareName": "x"},
    "csi": {"driver": "d", "nodePublishSecretRef": {"name": "s"}},
    **dict.fromkeys(("cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"), SECRET),
    "projected": {"sources": [{"secret": {"name": "s"}}]},
}


def found(**spec):
    return list(pod_references({"metadata": {"name": "p"}, "spec": spec}))


@pytest.mark.parametrize("kind", VOLUMES)
def test_every_kind_of_volume_that_names_a_secret_is_known(kind):
    assert found(volumes=[{"name": "v", kind: VOLUMES[kind]}]) == [Reference("secrets", "s")]


@pytest.mark.parametrize("member", ["containers", "initContainers", "ephemeralContainers"])
@pytest.mark.parametrize(
    "environment",
    [
        {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]},
        {"envFrom": [{"secretRef": {"name": "s"}}]},
    ],
    ids=["env", "envFrom"],
)
def test_every_kind_of_container_is_looked_through(member, environment):
    assert found(**{member: [{"name": "c", **environment}]}) == [Reference("secrets", "s")]


@pytest.mark.parametrize(
    ("spec", "reference"),
    [
        ({"imagePullSecrets": [{"name": "s"}]}, ("secrets", "s")),
        ({"serviceAccountName": "a"}, ("serviceaccounts", "a")),
        ({"containers": [{"envFrom": [{"configMapRef": {"name": "m"}}]}]}, ("configmaps", "m")),
        ({"volumes": [{"name": "v", "configMap": {"name": "m"}}]}, ("configmaps", "m")),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}, ("persistentvolumeclaims", "c")),
        ({"volumes": [{"name": "v", "ephemeral": {}}]}, ("persistentvolumeclaims", "p-v")),
        ({"resourceClaims": [{"name": "r", "resourceClaimName": "c"}]}, ("resourceclaims", "c")),
        ({"resourceClaims": [{"name": "r", "resourceClaimTemplateName": "t"}]}, ("resourceclaims", "")),
        ({"volumes": [{"projected": {"sources": [{"clusterTrustBundle": {"name": "b"}}]}}]}, ("clustertrustbundles", "b")),
        ({"volumes": [{"projected": {"sources": [{"podCertificate": {"signerName": "x"}}]}}]}, ("podcertificaterequests", "")),
    ],
)  # fmt: skip
def test_other_kinds_are_named(spec, reference):
    assert found(**spec) == [reference]


def test_a_pod_without_references_has_none():
    assert (
        found(
            containers=[{"name": "c"}], volumes=[{"name": "v", "emptyDir": {}}, {"name": "w", "csi": {"driver": "d"}}]
        )
        == []
    )
