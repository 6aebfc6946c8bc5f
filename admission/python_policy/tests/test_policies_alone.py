"""What authors see: policies are plain functions, tested without any server."""

from pathlib import Path

import pytest
from hyperkube_admission.python_policy import FixedCluster, Review, validates
from hyperkube_admission.python_policy.loading import load

FILE = Path(__file__).with_name("example_policies.py")
BY_NAME = {one.declaration.name: one.function for one in load([{"source": str(FILE)}])}
listed_registry, says = BY_NAME["listed-registry"], BY_NAME["says"]

REGISTRIES = {"kind": "ConfigMap", "metadata": {"name": "registries", "namespace": "ns"}, "data": {"allowed": "good"}}


def review(image):
    return Review(
        operation="CREATE", resource="pods", namespace="ns", object={"spec": {"containers": [{"image": image}]}}
    )


def test_a_policy_is_called_as_it_is():
    cluster = FixedCluster([REGISTRIES])

    assert listed_registry(review("good/app"), cluster) is None
    assert "bad/app" in listed_registry(review("bad/app"), cluster)


def test_the_fixed_cluster_chooses_by_labels():
    one = {"kind": "Pod", "metadata": {"name": "a", "namespace": "x", "labels": {"app": "web", "tier": "1"}}}
    other = {"kind": "Pod", "metadata": {"name": "b", "namespace": "y"}}
    cluster = FixedCluster([one, other])

    assert cluster.list("Pod") == [one, other]
    assert cluster.list("Pod", labels="app=web,tier==1") == [one]
    assert cluster.list("Pod", "y") == [other]
    assert cluster.get("Pod", "y", "a") is None


def test_a_review_collects_warnings_and_annotations():
    asked = Review(operation="CREATE", resource="configmaps", object={"data": {"warn": "w", "audit": "a"}})

    assert says(asked) is None
    assert (asked.warnings, asked.annotations) == (["w"], {"said": "a"})


def test_a_declaration_is_checked_where_it_stands():
    with pytest.raises(TypeError, match="names its resources"):
        validates()
    with pytest.raises(ValueError, match="'WRITE' is none of"):
        validates("pods", operations=["WRITE"])
