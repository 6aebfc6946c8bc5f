"""One OpenAPI document out of several: what is ours stays, what differs gets a name of its own."""

from hyperkube_host.apiserver.aggregation.merged import merged, part_of


def ref(name):
    return {"$ref": f"#/definitions/{name}"}


LOCAL = {
    "swagger": "2.0",
    "info": {"title": "Kubernetes"},
    "paths": {"/api/v1/pods": {"get": ref("Meta")}},
    "definitions": {"Meta": {"type": "object"}, "Same": {"type": "string"}},
}
OTHER = {
    "paths": {
        "/apis/ext/v1": {"get": ref("Same")},
        "/apis/ext/v1/things": {"get": {"schema": ref("Thing")}},
        "/apis/ext/v10/things": {"get": ref("Unused")},
        "/api/v1/pods": {"get": "stolen"},
    },
    "definitions": {
        "Thing": {"properties": {"meta": ref("Meta"), "more": {"items": [ref("Thing")]}}},
        "Meta": {"type": "object", "description": "another one"},
        "Same": {"type": "string"},
        "Unused": {},
    },
}


def test_a_part_has_its_paths_and_all_they_lead_to():
    part = part_of(OTHER, ("/apis/ext/v1",))

    assert sorted(part["paths"]) == ["/apis/ext/v1", "/apis/ext/v1/things"]
    assert sorted(part["definitions"]) == ["Meta", "Same", "Thing"]


def test_a_definition_that_differs_is_renamed_wherever_it_is_meant():
    whole = merged(LOCAL, [part_of(OTHER, ("/apis/ext/v1",))])

    assert sorted(whole["definitions"]) == ["Meta", "Meta_v2", "Same", "Thing"]
    assert whole["definitions"]["Meta"] == {"type": "object"}
    assert whole["definitions"]["Thing"]["properties"]["meta"] == ref("Meta_v2")
    assert whole["definitions"]["Thing"]["properties"]["more"]["items"] == [ref("Thing")]
    assert whole["paths"]["/api/v1/pods"] == {"get": ref("Meta")}
    assert whole["info"] == LOCAL["info"]


def test_two_that_differ_get_two_names():
    third = {"paths": {"/apis/c/v1": ref("Meta")}, "definitions": {"Meta": {"type": "array"}}}

    whole = merged(LOCAL, [part_of(OTHER, ("/apis/ext/v1",)), third])

    assert whole["definitions"]["Meta_v3"] == {"type": "array"}
    assert whole["paths"]["/apis/c/v1"] == ref("Meta_v3")


def test_the_first_of_two_that_describe_a_path_is_believed():
    first = {"paths": {"/apis/x/v1": "first"}, "definitions": {}}
    second = {"paths": {"/apis/x/v1": "second"}, "definitions": {}}

    assert merged(LOCAL, [first, second])["paths"]["/apis/x/v1"] == "first"


def test_nothing_given_is_changed():
    before = repr((LOCAL, OTHER))

    merged(LOCAL, [part_of(OTHER, ("/apis/ext/v1",))])

    assert repr((LOCAL, OTHER)) == before
