"""Warnings for addresses and ranges in odd forms."""

import pytest
from hyperkube_api.core.ip_warnings import cidr_warnings, ip_warnings

from hyperkube.machinery.field import ROOT

AT = ROOT.child("at")


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("10.0.0.1", None),
        ("010.0.0.01", 'non-standard IP address "010.0.0.01" is invalid: use "10.0.0.1"'),
        ("::ffff:1.2.3.4", 'non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"'),
        ("2001:db8::1", None),
        ("2001:DB8::01", 'IPv6 address "2001:DB8::01" should be in RFC 5952 canonical format ("2001:db8::1")'),
        ("1.2.3", None),
        ("1.2.3.999", None),
        ("fe80::1%eth0", None),
        ("", None),
    ],
)
def test_an_address_in_an_odd_form(text, warning):
    assert ip_warnings(AT, text) == ([f"at: {warning}"] if warning else [])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10.0.0.0/8", []),
        ("192.168.1.5/24",
         ['CIDR value "192.168.1.5/24" is ambiguous in this context (should be "192.168.1.0/24" or "192.168.1.5/32"?)']),
        ("010.0.0.0/8", ['non-standard CIDR value "010.0.0.0/8" is invalid: use "10.0.0.0/8"']),
        ("10.0.0.0/08", ['non-standard CIDR value "10.0.0.0/08" is invalid: use "10.0.0.0/8"']),
        ("::ffff:10.0.0.0/104", ['non-standard CIDR value "::ffff:10.0.0.0/104" is invalid: use "10.0.0.0/8"']),
        ("010.0.0.1/8",
         ['CIDR value "010.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
          'non-standard CIDR value "010.0.0.1/8" is invalid: use "10.0.0.0/8"']),
        ("2001:db8::/64", []),
        ("2001:db8:0::/64",
         ['IPv6 CIDR value "2001:db8:0::/64" should be in RFC 5952 canonical format ("2001:db8::/64")']),
        ("10.0.0.0", []),
        ("10.0.0.0/33", []),
        ("x/8", []),
    ],
)  # fmt: skip
def test_a_range_in_an_odd_form(text, found):
    assert cidr_warnings(AT, text) == [f"at: {warning}" for warning in found]
