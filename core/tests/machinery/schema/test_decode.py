"""What decoding by a schema checks, changes and reports."""

import pytest

from hyperkube.machinery.schema import DecodeError, KubeObject, KubeSchema, Package, compile_schema
from hyperkube.machinery.schema import fields as f
from hyperkube.machinery.schema.strict import Members

PACKAGE = Package(group="example.com", version="v1", proto="com.example.v1", openapi="com.example.v1")


class Part(KubeSchema):
    """An inlined part."""

    left = f.Int32(1, omitempty=True)
    right = f.Int32(2, ptr=True, omitempty=True)


class Port(KubeSchema):
    """An item of a list of type map."""

    port = f.Int32(1, required=True)
    protocol = f.String(2, omitempty=True, default="TCP")


class Meta(KubeSchema):
    """Metadata."""

    name = f.String(1, omitempty=True)
    created = f.Time(2, omitempty=True, omitzero=True)
    labels = f.Map(f.String(), 3, omitempty=True)
    uses = f.List(f.String(typedef="v1.Use"), 4, omitempty=True)


class Spec(KubeSchema):
    """A spec with a field of each kind."""

    ports = f.List("Port", 1, omitempty=True, list_type="map", list_map_keys=("port",))
    part = f.Inline("Part", 2)
    replicas = f.Int32(3, ptr=True, omitempty=True)
    paused = f.Bool(4, omitempty=True)
    limits = f.Map(f.Quantity(), 5, omitempty=True, typedef="v1.ResourceList")
    size = f.Quantity(6, ptr=True, omitempty=True)
    target = f.IntOrString(7, omitempty=True)
    seen = f.MicroTime(8, ptr=True, omitempty=True)
    wait = f.Duration(9, ptr=True, omitempty=True)
    data = f.Bytes(10, omitempty=True)
    containers = f.List("Port", 11, required=True, nullable=True)
    when = f.Time(12, omitempty=True)
    kept = f.Struct("Thing", 13, ptr=True, omitempty=True)
    files = f.Map(f.Bytes(), 14, omitempty=True)


class Thing(KubeObject):
    """An object."""

    metadata = f.Struct("Meta", 1, omitempty=True)
    spec = f.Struct("Spec", 2, ptr=True, omitempty=True)
    status = f.Struct("Meta", 3, omitempty=True)


def decode(value, **options):
    return compile_schema(Thing).decode(value, **options)


def spec(**members):
    return decode({"spec": members})[0]["spec"]


def test_members_come_out_in_declared_order():
    obj, _ = decode(
        {"spec": {"when": None, "ports": [{"protocol": "UDP", "port": 1}]}, "apiVersion": "v1", "kind": "T"}
    )

    assert list(obj) == ["kind", "apiVersion", "metadata", "spec", "status"]
    assert list(obj["spec"]["ports"][0]) == ["port", "protocol"]


def test_structs_that_are_no_pointers_are_written_even_if_they_are_missing():
    assert decode({})[0] == {"metadata": {}, "status": {}}


def test_a_null_document_is_the_zero_object():
    assert decode(None)[0] == {"metadata": {}, "status": {}}


def test_missing_members_are_filled_in_as_go_writes_them():
    assert spec() == {"target": 0, "containers": None, "when": None}


def test_null_in_a_map_of_bytes_is_empty_as_it_is_once_stored():
    assert spec(files={"b": None, "a": "YQ=="})["files"] == {"a": "YQ==", "b": ""}


def test_empty_values_are_left_out_as_go_leaves_them_out():
    written = spec(ports=[], left=0, right=0, replicas=0, paused=False, limits={}, containers=[])

    assert written == {"right": 0, "replicas": 0, "target": 0, "containers": [], "when": None}


def test_a_zero_time_is_left_out_where_the_field_says_so():
    obj, _ = decode({"metadata": {"created": "0001-01-01T00:00:00Z"}})

    assert obj["metadata"] == {}


def test_maps_are_written_with_sorted_keys():
    obj, _ = decode({"metadata": {"labels": {"b": "1", "a": "2"}}})

    assert list(obj["metadata"]["labels"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("member", "given", "written"),
    [
        ("limits", {"cpu": "0.5", "x": 1}, {"cpu": "500m", "x": "1"}),
        ("limits", {"cpu": "0.1m"}, {"cpu": "1m"}),
        ("size", "0.1m", "100u"),
        ("target", "50%", "50%"),
        ("target", 5, 5),
        ("seen", "2024-01-02T03:04:05.000000+02:00", "2024-01-02T01:04:05.000000Z"),
        ("when", "2024-01-02T03:04:05.9Z", "2024-01-02T03:04:05Z"),
        ("wait", "90s", "1m30s"),
        ("data", "aGVsbG8=", "aGVsbG8="),
        ("data", "aGVs\nbG8=", "aGVsbG8="),
        ("data", [104, 105, None], "aGkA"),
        ("containers", [None], [{"port": 0}]),
    ],
)
def test_scalars_are_written_in_their_canonical_form(member, given, written):
    assert spec(**{member: given})[member] == written


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ([], "json: cannot unmarshal array into Go value of type v1.Thing"),
        ({"metadata": "x"}, "json: cannot unmarshal string into Go struct field Thing.metadata of type v1.Meta"),
        (
            {"metadata": {"labels": {"a": 1}}},
            "json: cannot unmarshal number into Go struct field Meta.metadata.labels of type string",
        ),
        (
            {"metadata": {"labels": [1]}},
            "json: cannot unmarshal array into Go struct field Meta.metadata.labels of type map[string]string",
        ),
        (
            {"spec": {"ports": [{"port": 1}, {"port": "x"}]}},
            "json: cannot unmarshal string into Go struct field Port.spec.ports.port of type int32",
        ),
        (
            {"spec": {"ports": "x"}},
            "json: cannot unmarshal string into Go struct field Spec.spec.ports of type []v1.Port",
        ),
        (
            {"spec": {"left": 1.5}},
            "json: cannot unmarshal number 1.5 into Go struct field Spec.spec.Part.left of type int32",
        ),
        (
            {"spec": {"replicas": 99999999999}},
            "json: cannot unmarshal number 99999999999 into Go struct field Spec.spec.replicas of type int32",
        ),
        ({"spec": {"paused": "x"}}, "json: cannot unmarshal string into Go struct field Spec.spec.paused of type bool"),
        (
            {"spec": {"kept": {"kind": 1}}},
            "json: cannot unmarshal number into Go struct field Thing.spec.kept.TypeMeta.kind of type string",
        ),
        (
            {"metadata": {"uses": "x"}},
            "json: cannot unmarshal string into Go struct field Meta.metadata.uses of type []v1.Use",
        ),
        (
            {"metadata": {"uses": ["x", True]}},
            "json: cannot unmarshal bool into Go struct field Meta.metadata.uses of type v1.Use",
        ),
        (
            {"spec": {"data": [1, "x"]}},
            "json: cannot unmarshal string into Go struct field Spec.spec.data of type uint8",
        ),
        (
            {"spec": {"data": [256]}},
            "json: cannot unmarshal number 256 into Go struct field Spec.spec.data of type uint8",
        ),
        ({"spec": {"data": "!"}}, "illegal base64 data at input byte 0"),
        (
            {"spec": {"when": "yesterday"}},
            'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
        ),
        (
            {"spec": {"limits": {"a": "x"}}},
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        ({"spec": {"wait": "soon"}}, 'time: invalid duration "soon"'),
    ],
)
def test_a_wrong_value_is_refused_in_the_words_of_go(document, text):
    with pytest.raises(DecodeError) as refusal:
        decode(document)

    assert str(refusal.value) == text


def test_unknown_members_are_dropped_and_named_in_the_order_of_the_document():
    obj, errors = decode({"zzz": 1, "spec": {"ports": [{"port": 1}, {"port": 2, "colour": 1}]}, "metadata": {"x": {}}})

    assert obj["spec"]["ports"] == [{"port": 1}, {"port": 2}]
    assert errors == ['unknown field "zzz"', 'unknown field "spec.ports[1].colour"', 'unknown field "metadata.x"']


def test_unknown_members_are_dropped_silently_when_nobody_asks():
    assert decode({"zzz": 1}, report=False) == ({"metadata": {}, "status": {}}, [])


def test_duplicates_are_named_among_the_unknown():
    document = Members(
        [("metadata", Members([("bogus", 1), ("labels", Members([("a", "1"), ("a", "2")]))])), ("metadata", None)]
    )

    assert compile_schema(Thing).strict_errors(document) == [
        'unknown field "metadata.bogus"',
        'duplicate field "metadata.labels.a"',
        'duplicate field "metadata"',
    ]


def test_decoding_again_changes_nothing():
    once, _ = decode({"spec": {"limits": {"cpu": "0.5"}, "left": 1}})

    assert compile_schema(Thing).canonical(once) is once


def test_declared_defaults_are_filled_in_wherever_the_type_occurs():
    obj, _ = decode({"spec": {"ports": [{"port": 1}, {"port": 2, "protocol": "UDP"}]}})

    compile_schema(Thing).default(obj)

    assert [port["protocol"] for port in obj["spec"]["ports"]] == ["TCP", "UDP"]


def test_declared_defaults_are_filled_in_where_a_type_contains_itself():
    obj = {"spec": {"kept": {"spec": {"ports": [{"port": 1}], "kept": {"spec": {"ports": [{}]}}}}}}

    compile_schema(Thing).default(obj)

    kept = obj["spec"]["kept"]["spec"]
    assert kept == {"ports": [{"port": 1, "protocol": "TCP"}], "kept": {"spec": {"ports": [{"protocol": "TCP"}]}}}


def test_a_schema_is_a_marshmallow_schema_too():
    assert Port().load({"port": 1, "protocol": "TCP"}) == {"port": 1, "protocol": "TCP"}
    assert Port().validate({"port": "x"}) == {"port": ["json: cannot unmarshal string into Go value of type int32"]}


def test_a_schema_that_does_not_exist_is_named():
    with pytest.raises(LookupError, match="no schema 'nowhere:Pod'"):
        compile_schema("nowhere:Pod")


class Template(KubeSchema, templated=True):
    """What many objects have the same of."""

    paused = f.Bool(1, omitempty=True)
    limits = f.Map(f.Quantity(), 2, omitempty=True, typedef="v1.ResourceList")


class Made(KubeObject):
    """An object made from a template."""

    template = f.Struct("Template", 1, omitempty=True)


def test_a_template_with_an_infinite_number_is_not_taken_for_one_with_null():
    schema = compile_schema(Made)
    schema.decode({"template": {"paused": None}})

    with pytest.raises(DecodeError, match="cannot unmarshal number"):
        schema.decode({"template": {"paused": float("inf")}})


def test_a_template_is_decoded_once_and_shared_with_nobody():
    schema = compile_schema(Made)
    given = {"limits": {"memory": "1024Mi", "cpu": "1000m"}, "paused": False}

    first = schema.decode({"template": dict(given)})[0]
    first["template"]["limits"]["cpu"] = "changed"
    second = schema.decode({"template": {**given, "limits": dict(given["limits"])}})[0]

    assert second == schema.decode({"template": {"limits": {"cpu": "1000m", "memory": "1024Mi"}}})[0]
    assert list(second["template"]["limits"].values()) == ["1", "1Gi"]


@pytest.mark.parametrize("_time", [1, 2])
def test_what_is_wrong_with_a_template_is_said_each_time(_time):
    schema = compile_schema(Made)

    assert schema.decode({"template": {"paused": True, "more": 1}}) == (
        {"template": {"paused": True}},
        ['unknown field "template.more"'],
    )
    with pytest.raises(DecodeError, match=r"cannot unmarshal string into Go struct field Template\.template\.paused"):
        schema.decode({"template": {"paused": "yes"}})
    with pytest.raises(DecodeError):
        schema.decode({"template": {"limits": {"cpu": 1 << 70, "memory": []}}})
