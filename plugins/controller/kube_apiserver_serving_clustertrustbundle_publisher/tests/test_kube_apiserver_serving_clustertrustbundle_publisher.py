"""The clustertrustbundle publisher: one bundle for the API server's signer, by the hash of what is in it."""

import pytest
from hyperkube_controller.kube_apiserver_serving_clustertrustbundle_publisher import (
    CLUSTER_TRUST_BUNDLES,
    SIGNER,
    KubeApiserverServingClustertrustbundlePublisher,
    bundle_name,
)

from hyperkube.testing.controller_rig import ControllerRig


def bundle(name, text, signer=SIGNER):
    return {
        "kind": "ClusterTrustBundle",
        "metadata": {"name": name},
        "spec": {"signerName": signer, "trustBundle": text},
    }


@pytest.fixture
def run(tmp_path):
    file = tmp_path / "ca.crt"
    file.write_text("PEM")

    def run(*present):
        rig = ControllerRig(KubeApiserverServingClustertrustbundlePublisher, settings={"root_ca_file": str(file)})
        rig.client.seed(CLUSTER_TRUST_BUNDLES, *present)
        rig.settle()
        return rig

    return run


def held(rig):
    return {each["metadata"]["name"]: each["spec"]["trustBundle"] for each in rig.client.objects(CLUSTER_TRUST_BUNDLES)}


def test_a_name_holds_the_signer_and_half_a_hash():
    signer, _, digest = bundle_name("test.test/testsigner", "PEM").rpartition(":")

    assert signer == "test.test:testsigner"
    assert len(bytes.fromhex(digest)) == 12


def test_the_bundle_is_made(run):
    assert held(run()) == {bundle_name(SIGNER, "PEM"): "PEM"}


def test_a_changed_bundle_is_put_right(run):
    assert held(run(bundle(bundle_name(SIGNER, "PEM"), "evil"))) == {bundle_name(SIGNER, "PEM"): "PEM"}


def test_bundles_of_older_authorities_go(run):
    assert held(run(bundle("kubernetes.io:kube-apiserver-serving:old", "OLD"))) == {bundle_name(SIGNER, "PEM"): "PEM"}


def test_a_right_bundle_is_left_alone(run):
    assert run(bundle(bundle_name(SIGNER, "PEM"), "PEM")).client.actions == []


def test_a_deleted_bundle_is_made_again(run):
    rig = run()

    rig.client.delete(CLUSTER_TRUST_BUNDLES, bundle_name(SIGNER, "PEM"))
    rig.settle()

    assert held(rig) == {bundle_name(SIGNER, "PEM"): "PEM"}


def test_bundles_of_other_signers_are_left_alone(run):
    other = bundle("other", "X", signer="example.com/x")

    assert held(run(other))["other"] == "X"
