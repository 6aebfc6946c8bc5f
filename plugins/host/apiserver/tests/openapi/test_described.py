"""Descriptions from elsewhere: they replace the schemas' own where something is known, and nowhere else."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from hyperkube_host.apiserver.openapi import NoDescriptions, OpenApi
from hyperkube_host.apiserver.openapi.described import describe, with_values
from hyperkube_lib.serving import json

from hyperkube.hookspecs.api import ResourceSpec
from hyperkube.hookspecs.descriptions import TypeDescription
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource

pytest.importorskip("hyperkube_api.core.v1", reason="describes types of the core API group")

CONFIG_MAP = "io.k8s.api.core.v1.ConfigMap"
PORT = "io.k8s.api.core.v1.ServicePort"


class Known:
    """Descriptions of one type and one parameter."""

    source = "a test"

    def __init__(self):
        self.asked = 0

    def types(self, names):
        self.asked += 1
        known = {CONFIG_MAP: TypeDescription("About the type.", {"data": "About the data."})}
        return {name: text for name, text in known.items() if name in names}

    def values(self, wanted):
        return {}

    def parameters(self, wanted):
        return {operation: {"limit": f"At most, in {operation}."} for operation in wanted}


def config_maps():
    return ResourceSpec(
        resource=GroupVersionResource("", "v1", "configmaps"),
        kind=GroupVersionKind("", "v1", "ConfigMap"),
        singular="configmap",
        namespaced=True,
        verbs=("get", "list"),
        schema="hyperkube_api.core.v1:ConfigMap",
        storage_prefix="configmaps",
    )


def document(descriptions):
    return json.loads(
        OpenApi(lambda: [config_maps()], version="v1.2.3", descriptions=descriptions).document("api/v1").body
    )


@pytest.fixture
def described():
    return document(Known)


@pytest.fixture
def plain():
    return document(NoDescriptions)


def test_a_type_and_its_fields_are_described(described):
    schema = described["components"]["schemas"][CONFIG_MAP]

    assert schema["description"] == "About the type."
    assert schema["properties"]["data"]["description"] == "About the data."


def test_what_nobody_knows_keeps_its_own_text(described, plain):
    mine, own = (each["components"]["schemas"][CONFIG_MAP]["properties"] for each in (described, plain))

    assert mine["immutable"] == own["immutable"]
    assert own["immutable"]["description"]


def test_nothing_but_descriptions_changes(described, plain):
    assert without_texts(described) == without_texts(plain)


def test_a_parameter_is_described_by_its_operation(described):
    listing = described["paths"]["/api/v1/namespaces/{namespace}/configmaps"]["get"]
    texts = {each["name"]: each["description"] for each in listing["parameters"]}

    assert texts["limit"] == f"At most, in {listing['operationId']}."
    assert texts["watch"]


def test_documents_with_other_texts_have_another_hash():
    one, other = (
        OpenApi(lambda: [config_maps()], version="v1.2.3", descriptions=descriptions).index()
        for descriptions in (Known, NoDescriptions)
    )

    assert one != other


def test_nobody_is_asked_before_a_document_is():
    known = Known()
    documents = OpenApi(lambda: [config_maps()], version="v1.2.3", descriptions=lambda: known)

    documents.index()
    assert known.asked == 0

    documents.document("api/v1")
    documents.document("api/v1")
    assert known.asked == 1


def test_version_2_asks_for_each_type_once():
    names = []

    class Asked(Known):
        def types(self, wanted):
            names.extend(wanted)
            return super().types(wanted)

    other = replace(config_maps(), resource=GroupVersionResource("example.com", "v1", "things"))
    body = OpenApi(lambda: [config_maps(), other], version="v1.2.3", descriptions=Asked).v2().body

    assert json.loads(body)["definitions"][CONFIG_MAP]["description"] == "About the type."
    assert len(names) == len(set(names))


def test_the_values_of_an_enumeration_follow_the_text():
    assert with_values("Which.", ["B", "A"]) == 'Which.\n\nPossible enum values:\n - `"A"`\n - `"B"`'
    assert with_values("", ["A"]) == 'Possible enum values:\n - `"A"`'


def test_a_value_is_followed_by_what_it_means_or_what_the_text_says_of_it():
    text = "Which. Valid are:\n\n- A is the first\n- B is the second"

    said = with_values(text, ["A", "B", "C"], {"A": "means the best", "C": ""}).removeprefix(text)

    assert said == '\n\nPossible enum values:\n - `"A"` means the best\n - `"B"` is the second\n - `"C"`'


def test_the_values_of_a_field_are_asked_for():
    class OfPorts(Known):
        def types(self, names):
            return {PORT: TypeDescription("A port.", {"protocol": "Which."})}

        def values(self, wanted):
            return {PORT: {"protocol": {value: f"is {value}" for value in wanted[PORT]["protocol"]}}}

    services = replace(config_maps(), schema="hyperkube_api.core.v1:Service")
    body = OpenApi(lambda: [services], version="v1.2.3", descriptions=OfPorts).document("api/v1").body

    port = json.loads(body)["components"]["schemas"][PORT]["properties"]["protocol"]
    assert port["description"].endswith(' - `"SCTP"` is SCTP\n - `"TCP"` is TCP\n - `"UDP"` is UDP')


@pytest.mark.parametrize("enum", [[{"a": 1}], [[1]], [1, "b"], [None], [], None], ids=str)
def test_only_words_are_values_that_texts_explain(enum):
    class Asked(Known):
        def values(self, wanted):
            assert not wanted
            return {}

    schema = {"type": "object", "properties": {"colour": {"enum": enum}}}

    found = describe({"components": {"schemas": {"com.example.v1.Ball": schema}}, "paths": {}}, Asked())

    assert found["components"]["schemas"]["com.example.v1.Ball"] == schema


def test_custom_kinds_are_described_like_built_in_ones():
    class LikePods(Known):
        def types(self, names):
            texts = {name: f"The {name}." for name in ("apiVersion", "kind", "metadata")}
            known = {
                "io.k8s.api.core.v1.Pod": TypeDescription("", texts),
                "io.k8s.api.core.v1.PodList": TypeDescription("", texts | {"items": "Some pods, in a list."}),
            }
            return {name: text for name, text in known.items() if name in names}

    things = replace(
        config_maps(),
        resource=GroupVersionResource("example.com", "v1", "things"),
        kind=GroupVersionKind("example.com", "v1", "Thing"),
        schema=SimpleNamespace(json_schema={"type": "object", "description": "A thing.", "properties": {}}),
    )
    documents = OpenApi(lambda: [things], version="v1.2.3", descriptions=LikePods)

    schemas = json.loads(documents.document("apis/example.com/v1").body)["components"]["schemas"]
    one, many = schemas["com.example.v1.Thing"], schemas["com.example.v1.ThingList"]
    assert one["description"] == "A thing."
    assert {name: field["description"] for name, field in one["properties"].items()} == {
        "apiVersion": "The apiVersion.",
        "kind": "The kind.",
        "metadata": "The metadata.",
    }
    assert many["properties"]["items"]["description"] == "Some things, in a list."


def test_what_the_text_says_of_a_value_stands_beside_it():
    text = "Which.\n\nA means the first,\n  which is long.\n- B is the second.\n\nAs said, C is third."

    assert with_values(text, ["A", "B", "C"]).partition("Possible enum values:")[2] == (
        '\n - `"A"` means the first, which is long.\n - `"B"` is the second.\n - `"C"`'
    )


def without_texts(value):
    if isinstance(value, dict):
        return {
            name: without_texts(item)
            for name, item in value.items()
            if not (name == "description" and isinstance(item, str))
        }
    return [without_texts(item) for item in value] if isinstance(value, list) else value
