import pytest

from hyperkube.kinds.volumes import (
    BETA_CLASS,
    claim_keys,
    claim_names,
    class_name,
    is_default_class,
    leaves_class_open,
    newest,
    not_made_for,
)

POD = {
    "metadata": {"name": "web", "namespace": "d", "uid": "1"},
    "spec": {
        "volumes": [
            {"name": "config", "configMap": {"name": "c"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "shared"}},
            {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
        ]
    },
}


def claim(owner="", **spec):
    owners = [{"kind": "Pod", "uid": owner, "controller": True}] if owner else []
    return {"metadata": {"name": "web-scratch", "namespace": "d", "ownerReferences": owners}, "spec": spec}


def storage_class(name, created="", mark="storageclass.kubernetes.io/is-default-class", value="true"):
    return {"metadata": {"name": name, "creationTimestamp": created, "annotations": {mark: value}}}


def test_a_pod_has_the_claims_that_it_names_and_one_for_each_ephemeral_volume():
    assert claim_names(POD) == [("shared", False), ("web-scratch", True)]
    assert claim_keys(POD) == ("d/shared", "d/web-scratch")
    assert claim_names({"metadata": {"name": "bare"}}) == []


@pytest.mark.parametrize("owner", ["", "2"])
def test_a_claim_that_only_has_the_name_was_not_made_for_the_pod(owner):
    assert not_made_for(claim(owner), POD) == "PVC d/web-scratch was not created for pod d/web (pod is not owner)"


def test_a_claim_that_the_pod_controls_was_made_for_it():
    assert not_made_for(claim("1"), POD) == ""


@pytest.mark.parametrize(
    ("annotations", "spec", "name", "is_open"),
    [
        ({}, {}, "", True),
        ({}, {"storageClassName": ""}, "", False),
        ({}, {"storageClassName": "fast"}, "fast", False),
        ({BETA_CLASS: "old"}, {"storageClassName": "fast"}, "old", False),
        ({BETA_CLASS: ""}, {"storageClassName": "fast"}, "", False),
    ],
    ids=["nothing", "no class", "a class", "the annotation goes first", "even when empty"],
)
def test_the_class_of_a_claim(annotations, spec, name, is_open):
    subject = {"metadata": {"annotations": annotations}, "spec": spec}

    assert (class_name(subject), leaves_class_open(subject)) == (name, is_open)


def test_a_class_is_marked_as_default_by_either_annotation():
    assert is_default_class(storage_class("a"))
    assert is_default_class(storage_class("a", mark="storageclass.beta.kubernetes.io/is-default-class"))
    assert not is_default_class(storage_class("a", value="false"))
    assert not is_default_class({"metadata": {"name": "a"}})


def test_of_several_classes_the_newest_counts_and_of_equally_new_ones_the_first_by_name():
    old, b, a = storage_class("0", "2029"), storage_class("b", "2030"), storage_class("a", "2030")

    assert newest([old, b, a]) is a
    assert newest([b, old]) is b
    assert newest([]) is None
