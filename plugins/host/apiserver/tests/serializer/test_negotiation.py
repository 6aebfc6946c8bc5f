import pytest
from hyperkube_host.apiserver.serializer.encode import _wanted
from hyperkube_host.apiserver.serializer.negotiation import (
    JSON,
    MESSAGE,
    MESSAGES,
    PLAIN,
    PROTOBUF,
    YAML,
    Format,
    body_type,
    check_accepted,
    error_format,
    negotiate,
    patch_type,
)

from hyperkube.machinery.errors import NotAcceptable, UnsupportedMediaType

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", Format()),
        ("*/*", Format()),
        ("application/yaml", Format(YAML)),
        (TABLE, Format(JSON, "Table", "v1")),
        (f"{TABLE},application/json", Format(JSON, "Table", "v1")),
        ("application/vnd.kubernetes.protobuf,application/json", Format(PROTOBUF)),
        ("application/yaml;q=0.5,application/json;q=0.9", Format(JSON)),
        ("text/html,*/*;q=0.8", Format()),
    ],
)
def test_the_most_wanted_format_that_can_be_written_is_taken(accept, expected):
    assert negotiate(accept, transforms=True, binary=True) == expected


@pytest.mark.parametrize(("accept", "expected"), [(f"{JSON}, */*", PLAIN), (f"{PROTOBUF}, */*", MESSAGE)])
def test_an_object_as_it_is_has_one_format_that_is_told_by_identity(accept, expected):
    assert negotiate(accept, transforms=True, binary=True) is expected


def test_a_table_is_not_acceptable_where_there_is_none():
    with pytest.raises(NotAcceptable, match="only the following media types are accepted"):
        negotiate(TABLE)


@pytest.mark.parametrize("accept", ["application/json;g=meta.k8s.io;v=v1", "application/json;v=v1"])
def test_a_kind_without_its_name_is_asked_for_in_vain(accept):
    with pytest.raises(NotAcceptable):
        negotiate(accept, transforms=True)


def test_media_types_and_parameters_are_told_apart_by_case():
    with pytest.raises(NotAcceptable, match="406: Not Acceptable"):
        check_accepted("APPLICATION/JSON", (JSON,))
    assert negotiate("application/json;AS=Table;G=meta.k8s.io;V=v1", transforms=True) == Format()


def test_a_type_that_nobody_produces_is_refused_by_the_router():
    with pytest.raises(NotAcceptable, match="406: Not Acceptable"):
        check_accepted("text/html", (JSON, YAML))


def test_errors_fall_back_to_json():
    assert error_format("text/html") == JSON
    assert error_format("application/yaml") == YAML


@pytest.mark.parametrize(("given", "expected"), [("", JSON), ("application/json; charset=utf-8", JSON), (YAML, YAML)])
def test_a_body_is_json_unless_it_says_otherwise(given, expected):
    assert body_type(given) == expected


def test_a_body_of_another_type_is_refused():
    with pytest.raises(UnsupportedMediaType, match="accepted media types include"):
        body_type("text/plain")


def test_a_patch_must_say_what_it_is():
    assert patch_type("application/merge-patch+json") == "application/merge-patch+json"
    with pytest.raises(UnsupportedMediaType, match="415"):
        patch_type("application/json")


@pytest.mark.parametrize("accept", sorted(MESSAGES))
@pytest.mark.parametrize("verb", ["get", "list", "watch", "create", "update", "delete"])
@pytest.mark.parametrize("on_part", [False, True])
def test_headers_that_are_known_to_ask_for_messages_do(accept, verb, on_part):
    assert _wanted(accept, verb, on_part) is MESSAGE
