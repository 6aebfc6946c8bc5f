import pytest

from hyperkube.machinery import names

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (names.dns1123_label, "a-1"),
        (names.dns1123_subdomain, "a.b-c.1"),
        (names.dns1123_subdomain_with_underscore, "_a._b"),
        (names.dns1035_label, "a1"),
        (names.wildcard_dns1123_subdomain, "*.a.b"),
        (names.qualified_name, "example.com/My_name.x"),
        (names.label_value, ""),
        (names.path_segment_name, "system:node:x"),
        (names.port_name, "http-1"),
        (names.c_identifier, "_a1"),
        (names.percent, "100%"),
        (names.http_header_name, "X-A"),
        (names.relaxed_env_var_name, "1 /x"),
        (names.config_map_key, ".a.b"),
        (names.condition_reason, "A,B:c_"),
        (names.domain_prefixed_path, "acme.io/x%20"),
        (names.fully_qualified_name, "a.b.c"),
    ],
)
def test_a_good_value_has_no_errors(rule, value):
    assert rule(value) == []


@pytest.mark.parametrize(
    ("rule", "value", "messages"),
    [
        (names.dns1123_label, "A", [LABEL]),
        (names.dns1123_label, "a\n", [LABEL]),
        (names.dns1123_label, "a.b", ["must not contain dots"]),
        (names.dns1123_label, "a" * 64, ["must be no more than 63 characters"]),
        (names.label_value, "a" * 64, ["must be no more than 63 bytes"]),
        (names.qualified_name, "/a", ["prefix part must be non-empty"]),
        (names.qualified_name, "a" * 64, ["name part must be no more than 63 bytes"]),
        (names.path_segment_name, "..", ["may not be '..'"]),
        (names.path_segment_name, "a/b%", ["may not contain '/'", "may not contain '%'"]),
        (names.port_number, 0, ["must be between 1 and 65535, inclusive"]),
        (
            names.port_name,
            "-1--",
            [
                "must contain at least one letter (a-z)",
                "must not contain consecutive hyphens",
                "must not begin or end with a hyphen",
            ],
        ),
        (names.relaxed_env_var_name, "", ["environment variable name must be non-empty"]),
        (names.config_map_key, "..a", ["must not start with '..'"]),
        (names.fully_qualified_name, "a.b", ["should be a domain with at least three segments separated by dots"]),
    ],
)
def test_a_bad_value_gets_kubernetes_words(rule, value, messages):
    assert rule(value) == messages


def test_an_empty_name_part_has_two_errors():
    assert [error.split(" (")[0] for error in names.qualified_name("a.b/")] == [
        "name part must be non-empty",
        (
            "name part must consist of alphanumeric characters, '-', '_' or '.', "
            "and must start and end with an alphanumeric character"
        ),
    ]


def test_too_many_slashes_are_explained_with_an_example():
    (message,) = names.qualified_name("a/b/c")

    assert message.startswith("a valid label key must consist of alphanumeric characters")
    assert message.endswith("with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")
