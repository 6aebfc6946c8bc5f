"""The validation of NetworkPolicies."""

import pytest
from hyperkube_api.networking.network_policies.validation import validate_network_policy

BITS = "must not have bits set beyond the prefix length"
ZEROS = "must not have leading 0s in IP or prefix length"
SUBSET = "must be a strict subset of `cidr`"
CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
B = "spec.ingress[0].from[0].ipBlock"


def messages(errors):
    """Return the text of each error."""
    return [str(error) for error in errors]


def a_policy(cidr, *exceptions):
    peer = {"ipBlock": {"cidr": cidr, "except": list(exceptions)}}
    return {"metadata": {"name": "p"}, "spec": {"podSelector": {}, "ingress": [{"from": [peer]}]}}


@pytest.mark.parametrize(
    ("policy", "errors"),
    [
        (a_policy("10.0.0.1/8", "11.0.0.0/16", "x"), [
            f'{B}.cidr: Invalid value: "10.0.0.1/8": {BITS}',
            f'{B}.except[0]: Invalid value: "11.0.0.0/16": {SUBSET}',
            f'{B}.except[1]: Invalid value: "x": {CIDR}',
        ]),
        (a_policy("010.0.0.0/8", "10.1.0.0/16"), [f'{B}.cidr: Invalid value: "010.0.0.0/8": {ZEROS}']),
        (a_policy("10.0.0.0/08"), [f'{B}.cidr: Invalid value: "10.0.0.0/08": {ZEROS}']),
        (a_policy("::ffff:10.0.0.0/104"), [
            f'{B}.cidr: Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address',
        ]),
        (a_policy("10.0.0.0/8", "10.0.0.1/8"), [
            f'{B}.except[0]: Invalid value: "10.0.0.1/8": {BITS}',
            f'{B}.except[0]: Invalid value: "10.0.0.1/8": {SUBSET}',
        ]),
    ],
)  # fmt: skip
def test_a_policy_that_breaks_a_rule_is_refused(policy, errors):
    assert messages(validate_network_policy(policy)) == errors


def test_ranges_that_are_stored_stay_allowed():
    assert validate_network_policy(a_policy("10.0.0.1/8"), a_policy("10.0.0.1/8")) == []
