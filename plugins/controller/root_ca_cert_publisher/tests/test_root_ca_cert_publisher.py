"""The root-ca-cert-publisher controller: the CA in every namespace, as the file has it."""

import pytest
from hyperkube_controller.root_ca_cert_publisher import RootCaCertPublisher

from hyperkube.client.kubeconfig import empty, write
from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.controller_rig import ControllerRig

NAMESPACE = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "d"}}


@pytest.fixture
def rig(tmp_path):
    file = tmp_path / "ca.crt"
    file.write_text("PEM")
    rig = ControllerRig(RootCaCertPublisher, settings={"root_ca_file": str(file)})
    rig.client.seed(NAMESPACES, NAMESPACE)
    rig.settle()
    return rig


def test_each_namespace_has_the_certificate(rig):
    (config_map,) = rig.client.objects(CONFIG_MAPS)

    assert config_map["metadata"]["name"] == "kube-root-ca.crt"
    assert config_map["data"] == {"ca.crt": "PEM"}


def test_a_changed_or_deleted_config_map_is_put_right(rig):
    rig.client.patch(CONFIG_MAPS, "kube-root-ca.crt", {"data": {"ca.crt": "evil"}}, "d")
    rig.settle()
    assert rig.client.objects(CONFIG_MAPS)[0]["data"] == {"ca.crt": "PEM"}

    rig.client.delete(CONFIG_MAPS, "kube-root-ca.crt", "d")
    rig.settle()
    assert rig.client.objects(CONFIG_MAPS)[0]["data"] == {"ca.crt": "PEM"}


def test_without_a_file_there_is_nothing_to_publish():
    rig = ControllerRig(RootCaCertPublisher)
    rig.client.seed(NAMESPACES, NAMESPACE)

    rig.settle()

    assert rig.client.objects(CONFIG_MAPS) == []


def test_a_missing_file_is_the_users_mistake():
    with pytest.raises(UsageError, match="--root-ca-file"):
        ControllerRig(RootCaCertPublisher, settings={"root_ca_file": "/no/such/file"})


@pytest.mark.parametrize(
    ("cluster", "published"),
    [
        pytest.param({"certificate-authority": "own.crt"}, "OWN", id="a-file"),
        pytest.param({"certificate-authority-data": "T1dO"}, "OWN", id="data"),
        pytest.param({"insecure-skip-tls-verify": True}, "", id="none"),
    ],
)
def test_without_the_flag_it_is_the_authority_of_the_managers_own_kubeconfig(tmp_path, cluster, published):
    (tmp_path / "own.crt").write_text("OWN")
    file = tmp_path / "kubeconfig"
    write(file, {**empty(), "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1", **cluster}}]})
    rig = ControllerRig(RootCaCertPublisher, settings={"kubeconfig": str(file)})
    rig.client.seed(NAMESPACES, NAMESPACE)

    rig.settle()

    assert rig.client.objects(CONFIG_MAPS)[0]["data"] == {"ca.crt": published}


def test_over_plain_http_there_is_no_authority_but_pods_find_the_config_map():
    rig = ControllerRig(RootCaCertPublisher, settings={"master": "127.0.0.1:8080"})
    rig.client.seed(NAMESPACES, NAMESPACE)

    rig.settle()

    assert rig.client.objects(CONFIG_MAPS)[0]["data"] == {"ca.crt": ""}
