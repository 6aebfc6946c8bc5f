"""The root-ca-cert-publisher controller: the CA in every namespace, as the file has it."""

import pytest
from hyperkube_controller.root_ca_cert_publisher import RootCaCertPublisher

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
