"""Names and labels, as a kubelet of 1.23 wrote them."""

import pytest
from hyperkube_runtime.docker.names import (
    ContainerNameParts,
    container_name,
    cri_labels,
    docker_labels,
    name_part,
    parse_name,
    randomized,
    sandbox_name,
)

POD = {"metadata": {"name": "web-1", "namespace": "shop", "uid": "u-1", "attempt": 2}}


def test_a_sandbox_is_called_after_its_pod():
    assert sandbox_name(POD) == "k8s_POD_web-1_shop_u-1_2"


def test_a_container_is_called_after_itself_and_its_pod():
    assert container_name({"metadata": {"name": "app"}}, POD) == "k8s_app_web-1_shop_u-1_0"


def test_names_are_read_back():
    name = container_name({"metadata": {"name": "app", "attempt": 3}}, POD)
    parts = ContainerNameParts("app", "web-1", "shop", "u-1", 3)

    assert parse_name(f"/{name}") == parts
    assert parse_name(randomized(name)) == parts
    assert name_part("u-1") in name


@pytest.mark.parametrize("name", ["", "registry", "k8s_a_b", "k8s_a_b_c_d_x", "docker_a_b_c_d_0", "k8s_a_b_c_d_0_1_2"])
def test_containers_of_no_pod_have_other_names(name):
    assert parse_name(name) is None


def test_annotations_are_labels_with_a_prefix():
    labels = docker_labels({"app": "web"}, {"checksum": "1"})

    assert labels == {"app": "web", "annotation.checksum": "1"}
    assert cri_labels(labels) == ({"app": "web"}, {"checksum": "1"})


def test_labels_of_the_runtime_are_not_told():
    of_sandbox = {"io.kubernetes.docker.type": "podsandbox", "io.kubernetes.container.name": "POD", "a": "b"}
    of_container = {
        "io.kubernetes.docker.type": "container",
        "io.kubernetes.container.name": "app",
        "io.kubernetes.container.logpath": "/l",
        "io.kubernetes.sandbox.id": "s",
    }

    assert cri_labels(of_sandbox) == ({"a": "b"}, {})
    assert cri_labels(of_container) == ({"io.kubernetes.container.name": "app"}, {})
