"""Descriptions: read from the libraries that are installed, and put together as they were before they were wrapped."""

import textwrap
from dataclasses import replace

import pytest
from hyperkube_api.descriptions import (
    kubeflow_trainer,
    kubernetes_client,
    kubernetes_validate,
    library,
    lightkube_models,
)
from hyperkube_api.descriptions.aligned import aligned
from hyperkube_api.descriptions.plugin import ClientLibraries, DescriptionsApi
from hyperkube_api.descriptions.wrapped import joined
from hyperkube_testing.api import DescriptionsContract

POD = "io.k8s.api.core.v1.Pod"
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"


def needs(module):
    name = module.DISTRIBUTION
    return pytest.mark.skipif(not library.version(name), reason=f"{name} is not installed")


needs_schemas = needs(kubernetes_validate)
needs_values = needs(kubeflow_trainer)
needs_client = needs(kubernetes_client)


class TestContract(DescriptionsContract):
    plugin = DescriptionsApi
    described = POD
    field = "spec"


def wrap(text, width=30):
    """Wrap as lightkube-models does, line by line, which loses blank lines."""
    return [
        piece
        for line in text.split("\n")
        for piece in textwrap.wrap(line, width, break_on_hyphens=False, break_long_words=False)
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("A short one.", id="one line"),
        pytest.param("One sentence that is much longer than a line may be, so it goes on.", id="wrapped"),
        pytest.param("The first paragraph.\n\nThe second one, which is longer than a line.", id="paragraphs"),
        pytest.param("Valid are:\n  A - the first\n  B - the second", id="indented lines"),
        pytest.param("Valid are: - A, which stands\n  for the first\n- B", id="a list"),
        pytest.param("See https://example.org/a/path/longer/than/any/line for more.", id="a long word"),
    ],
)
def test_a_wrapped_text_is_put_together_as_it_was(text):
    assert joined(wrap(text), 30) == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("So.  Two after a sentence are kept.  Always.", id="two spaces at a line's end"),
        pytest.param("A paragraph right as long as it.\n\nThe next one.", id="a paragraph that fills its line"),
        pytest.param("It is this:\n\n  indented after a blank line\n\nand on.", id="blank lines beside indented ones"),
        pytest.param("As follows:\n  indented\nand on.", id="line breaks beside indented ones"),
    ],
)
def test_the_text_in_one_line_tells_what_the_wrapping_hides(text):
    assert aligned(wrap(text), text.replace("\n", " "), 30) == text


def test_texts_that_differ_are_not_mixed():
    assert aligned(["Something that was", "wrapped."], "Something else that was wrapped.", 30) is None
    assert aligned(["Something"], "Something and more", 30) is None


def test_a_type_is_found_by_the_name_of_its_definition():
    names = [
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps",
        "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService",
        "io.k8s.apimachinery.pkg.version.Info",
    ]

    assert set(lightkube_models.describe(names)) == set(names)


@pytest.mark.parametrize(
    ("definition", "field"),
    [
        pytest.param("io.k8s.api.networking.v1.IPBlock", "except", id="a keyword"),
        pytest.param("io.k8s.api.networking.v1.NetworkPolicyIngressRule", "from", id="another"),
        pytest.param("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta", "continue", id="a third"),
    ],
)
def test_a_field_has_its_name_in_json(definition, field):
    assert lightkube_models.describe([definition])[definition].fields[field]


def test_a_field_without_a_text_has_none():
    name = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ExternalDocumentation"

    assert lightkube_models.describe([name])[name].fields == {}


def test_with_lightkube_models_alone_types_are_described_and_nothing_else(monkeypatch):
    for module in (kubernetes_client, kubernetes_validate, kubeflow_trainer):
        monkeypatch.setattr(module, "DISTRIBUTION", "no-such-distribution")
    monkeypatch.setattr(kubeflow_trainer, "_shared", dict)

    assert ClientLibraries().parameters({"listCoreV1NamespacedPod": ["limit"]}) == {}
    assert ClientLibraries().values({POD: {"phase": ["Failed"]}}) == {POD: {}}
    assert "no-such-distribution none" in ClientLibraries().source
    assert set(ClientLibraries().types([POD, QUANTITY])) == {POD}
    assert ClientLibraries().types([POD])[POD].fields["status"]


@needs_schemas
def test_the_newest_words_are_taken_with_the_exact_white_space(monkeypatch):
    spec = "io.k8s.api.core.v1.PodSpec"
    exact = kubernetes_validate.Definitions().describe([spec])[spec]
    older = replace(exact, text="Something older.", fields={**exact.fields, "nodeName": exact.fields["nodeName"] + "!"})
    monkeypatch.setattr(kubernetes_validate.Definitions, "describe", lambda known, names: {spec: older})

    found = ClientLibraries().types([spec])[spec]

    assert found.text != older.text
    assert found.fields["nodeName"].split() == exact.fields["nodeName"].split()
    assert found.fields["volumes"] == exact.fields["volumes"]


@needs_schemas
def test_a_type_that_only_the_exact_library_has_is_described():
    time = "io.k8s.apimachinery.pkg.apis.meta.v1.Time"

    exact = kubernetes_validate.Definitions().describe([time])[time]
    assert ClientLibraries().types([time])[time].text == exact.text


@needs_schemas
def test_the_same_is_said_of_few_types_as_of_many():
    few = [POD, "io.k8s.api.core.v1.PodSpec", "io.k8s.api.core.v1.PodStatus", "io.k8s.api.core.v1.NoSuchType"]
    many = [*few, *(f"io.k8s.api.apps.v1.{number}" for number in range(kubernetes_validate.FEW))]

    one_by_one, parsed = (kubernetes_validate.Definitions().describe(names) for names in (few, many))

    assert one_by_one == parsed
    assert len(parsed) == 3


@needs_values
def test_the_values_of_an_enumeration_are_explained():
    port = "io.k8s.api.core.v1.ServicePort"

    found = kubeflow_trainer.meanings(port, {"protocol": ["SCTP", "TCP", "UDP"], "name": []})

    assert set(found) == {"protocol"}
    assert set(found["protocol"]) == {"SCTP", "TCP", "UDP"}
    assert all(value in text for value, text in found["protocol"].items())


@needs_values
def test_the_same_values_mean_the_same_in_a_group_that_the_library_lacks():
    storage_class = "io.k8s.api.storage.v1.StorageClass"
    values = ["Delete", "Recycle", "Retain"]

    found = kubeflow_trainer.meanings(storage_class, {"reclaimPolicy": values, "other": ["Delete", "Keep"]})

    assert set(found) == {"reclaimPolicy"}
    assert set(found["reclaimPolicy"]) == set(values)


@needs_values
def test_a_type_without_fields_has_its_paragraphs():
    found = kubeflow_trainer.describe([QUANTITY, POD])

    assert set(found) == {QUANTITY}
    paragraphs = found[QUANTITY].text.split("\n\n")
    assert len(paragraphs) > 10
    assert {line[0] == "\t" for line in paragraphs if "(Note that" in line} == {True}


@needs_client
@pytest.mark.parametrize(
    ("operation", "names"),
    [
        pytest.param("listAppsV1NamespacedDeployment", ["fieldSelector", "resourceVersionMatch", "limit"], id="list"),
        pytest.param("patchComExampleV1NamespacedThing", ["fieldManager", "force", "dryRun"], id="custom kinds too"),
        pytest.param("deleteCoreV1CollectionNamespacedPod", ["propagationPolicy", "watch"], id="collection"),
        pytest.param("readCoreV1NamespacedPodLog", ["insecureSkipTLSVerifyBackend", "tailLines"], id="log"),
        pytest.param("connectCoreV1GetNamespacedPodExec", ["command", "tty"], id="exec"),
    ],
)
def test_parameters_are_described_by_operation(operation, names):
    found = kubernetes_client.describe({operation: names})[operation]

    assert set(found) == set(names)
    assert all(len(text.split()) > 1 for text in found.values())


@needs_client
def test_the_same_parameter_may_mean_another_thing_in_a_patch():
    found = kubernetes_client.describe({"createAppsV1X": ["fieldManager"], "patchAppsV1X": ["fieldManager"]})

    assert found["createAppsV1X"]["fieldManager"] in found["patchAppsV1X"]["fieldManager"].replace("  ", " ")
    assert found["createAppsV1X"] != found["patchAppsV1X"]
