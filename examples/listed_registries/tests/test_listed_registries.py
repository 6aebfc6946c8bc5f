import pytest
from hyperkube_admission.python_policy import FixedCluster, Review
from listed_registries import listed_registries

REGISTRIES = {
    "kind": "ConfigMap",
    "metadata": {"name": "registries", "namespace": "kube-system"},
    "data": {"registries": "registry.example mirror.example"},
}


def review(*images):
    containers = [{"name": f"c{index}", "image": image} for index, image in enumerate(images)]
    return Review(operation="CREATE", resource="pods", namespace="shop", object={"spec": {"containers": containers}})


@pytest.mark.parametrize(
    ("images", "refused"),
    [
        (["registry.example/app:1"], False),
        (["registry.example/app:1", "mirror.example/sidecar"], False),
        (["registry.example/app:1", "other.example/sidecar"], True),
        (["app"], True),
    ],
    ids=repr,
)
def test_images_come_from_listed_registries(images, refused):
    said = listed_registries(review(*images), FixedCluster([REGISTRIES]))

    assert bool(said) is refused


def test_without_a_list_it_warns():
    asked = review("app")

    assert listed_registries(asked, FixedCluster()) is None
    assert asked.warnings == ["ConfigMap kube-system/registries is missing: images may come from anywhere"]
