"""Checks that many kinds share."""

import pytest
from hyperkube_api.meta import validation
from hyperkube_api.meta.go_diff import spec_diff
from hyperkube_api.meta.go_shape import go_shape

from hyperkube.machinery.field import ROOT


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("10.0.0.1", None),
        ("fd00::1", None),
        ("x", validation.NOT_IP),
        ("fe80::1%eth0", validation.NOT_IP),
        ("fd00::1%}\nflush ruleset\n#", validation.NOT_IP),
        ("10.096.88.5", "must not have leading 0s"),
        ("::ffff:1.2.3.4", "must not be an IPv4-mapped IPv6 address"),
    ],
)
def test_addresses_are_canonical(text, error):
    errors = validation.ip_address(ROOT.child("ip"), text)

    assert [item.detail for item in errors] == ([error] if error else [])


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("10.0.0.0/8", None),
        ("10.0.0.1/8", "must not have bits set beyond the prefix length"),
        ("10.0.0.0", validation.NOT_CIDR),
        ("x/8", validation.NOT_CIDR),
        ("fd00::%}\nflush ruleset\n#/64", validation.NOT_CIDR),
    ],
)
def test_ranges_end_where_their_prefix_ends(text, error):
    errors = validation.cidr(ROOT.child("cidr"), text)

    assert [item.detail for item in errors] == ([error] if error else [])


def test_an_address_with_a_zone_is_no_endpoint():
    (error,) = validation.endpoint_address(ROOT.child("ip"), "fd00::1%}\nflush ruleset\n#")

    assert error.detail == validation.NOT_IP


def test_a_loopback_address_is_no_endpoint():
    (error,) = validation.endpoint_address(ROOT.child("ip"), "127.0.0.1")

    assert error.detail == "may not be in the loopback range (127.0.0.0/8, ::1/128)"


def test_selector_expressions_need_values_that_fit_their_operator():
    selector = {
        "matchExpressions": [
            {"key": "a", "operator": "In"},
            {"key": "a", "operator": "Exists", "values": ["x"]},
            {"key": "a", "operator": "Near"},
        ]
    }

    errors = validation.label_selector(ROOT.child("selector"), selector)

    assert [(error.reason, str(error.path)) for error in errors] == [
        ("FieldValueRequired", "selector.matchExpressions[0].values"),
        ("FieldValueForbidden", "selector.matchExpressions[1].values"),
        ("FieldValueInvalid", "selector.matchExpressions[2].operator"),
    ]


def test_empty_and_absent_are_the_same_unless_they_matter():
    assert validation.unchanged(ROOT, None, {}) == []
    assert validation.unchanged_exactly(ROOT, None, False) != []


def test_internal_json_has_go_names_in_order_and_keeps_what_is_empty():
    pytest.importorskip("hyperkube_api.core", reason="needs types of the core group, which is not installed here")
    shape = go_shape("hyperkube_api.core.v1:ContainerPort", {"containerPort": 80, "protocol": "TCP"})

    assert list(shape.items()) == [
        ("Name", ""),
        ("HostPort", 0),
        ("ContainerPort", 80),
        ("Protocol", "TCP"),
        ("HostIP", ""),
    ]


def test_host_namespaces_live_in_the_security_context_inside():
    pytest.importorskip("hyperkube_api.core", reason="needs types of the core group, which is not installed here")
    shape = go_shape("hyperkube_api.core.v1:PodSpec", {"hostNetwork": True, "securityContext": {}})

    assert shape["SecurityContext"]["HostNetwork"] is True
    assert "HostNetwork" not in shape


def test_a_diff_shows_the_change_with_three_lines_around_it():
    pytest.importorskip("hyperkube_api.core", reason="needs types of the core group, which is not installed here")
    schema = "hyperkube_api.core.v1:ContainerPort"

    diff = spec_diff(schema, {"name": "a", "containerPort": 1}, {"name": "b", "containerPort": 1})

    assert (
        diff
        == '@@ -1,5 +1,5 @@\n {\n- "Name": "a",\n+ "Name": "b",\n  "HostPort": 0,\n  "ContainerPort": 1,\n  "Protocol": "",\n'
    )
