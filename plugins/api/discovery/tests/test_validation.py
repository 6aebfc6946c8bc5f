"""The validation of endpoint slices: one row for each rule, with the texts of Kubernetes."""

import pytest
from hyperkube_api.discovery.validation import validate_endpoint_slice


def a_slice(kind="IPv4", *addresses, **endpoint):
    item = {"addresses": list(addresses) or ["10.0.0.1"], **endpoint}
    return {"metadata": {"name": "s"}, "addressType": kind, "endpoints": [item]}


def messages(errors):
    """Return each error as a short row: where, what kind, and the value."""
    return [f"{error.path} {error.reason.removeprefix('FieldValue')} {error.value}" for error in errors]


E = "endpoints[0]"


@pytest.mark.parametrize(
    ("obj", "rows"),
    [
        (a_slice("IPv4", "::1"), [f"{E}.addresses Invalid ::1", f"{E}.addresses[0] Invalid ::1"]),
        (a_slice("FQDN", ""), [f"{E}.addresses[0] Required "]),
        (a_slice("FQDN", "A_."), [f"{E}.addresses[0] Invalid A_"]),
        (a_slice("FQDN", "a."), [f"{E}.addresses[0] Invalid a"]),
        (a_slice("FQDN", "a." + "b" * 64), [f"{E}.addresses[0] Invalid {'b' * 64}"]),
        (a_slice("FQDN", "a.b."), []),
        (a_slice(deprecatedTopology={"a b": "c"}), [f"{E}.deprecatedTopology Invalid a b"]),
        (a_slice(hints={"forZones": [{"name": ""}, {"name": ""}]}), [f"{E}.hints.forZones[1].name Duplicate "]),
        (a_slice(hints={"forZones": [{"name": "a"}] * 9, "forNodes": [{"name": "A_"}]}), [
            f"{E}.hints.forZones TooMany 9",
        ]),
        (a_slice(hints={"forNodes": [{"name": ""}]}), [f"{E}.hints.forNodes[0].name Invalid "]),
    ],
)  # fmt: skip
def test_a_slice_that_breaks_a_rule_is_refused(obj, rows):
    assert messages(validate_endpoint_slice(obj)) == rows


def test_an_update_checks_the_endpoints_that_are_not_in_the_stored_slice():
    stored = [{"addresses": [f"10.0.0.{number}"], "nodeName": "n"} for number in range(3)]
    asked = []
    new, moved = {"addresses": ["127.0.0.1"], "nodeName": "n"}, {"addresses": ["10.0.0.2"], "nodeName": "A_"}
    old = {**a_slice(), "endpoints": [*stored, {"addresses": ["127.0.0.9"]}]}
    obj = {**old, "endpoints": [*old["endpoints"][1:2], old["endpoints"][3], new, moved]}

    errors = validate_endpoint_slice(obj, old, loopback=lambda _endpoint, address: asked.append(address) or False)

    assert messages(errors) == ["endpoints[2].addresses[0] Invalid 127.0.0.1", "endpoints[3].nodeName Invalid A_"]
    assert asked == ["127.0.0.1"]
