"""What is wrong with network rules: one row for each rule, in Kubernetes' words."""

import pytest
from hyperkube_api.networking.ingresses.validation import validate_ingress
from hyperkube_api.networking.ip_addresses import validate_ip_address_name, validate_ip_address_update
from hyperkube_api.networking.network_policies.validation import validate_network_policy
from hyperkube_api.networking.service_cidrs import validate_service_cidr, validate_service_cidr_update

BITS = "must not have bits set beyond the prefix length"
ZEROS = "must not have leading 0s in IP or prefix length"
SUBSET = "must be a strict subset of `cidr`"
CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
FAMILIES = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"


def said(errors):
    """Return each error as it is told."""
    return [str(error) for error in errors]


def an_ingress(annotation=None, tls=None, paths=None, host="a.b", **spec):
    path = {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}
    annotations = {} if annotation is None else {"kubernetes.io/ingress.class": annotation}
    rules = [{"host": host, "http": {"paths": [path] if paths is None else paths}}]
    return {"metadata": {"name": "i", "annotations": annotations}, "spec": {"rules": rules, "tls": tls or [], **spec}}


def test_the_class_that_is_named_twice_is_the_same():
    assert said(validate_ingress(an_ingress(annotation="a", ingressClassName="b"))) == [
        (
            'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when both are '
            "specified"
        )
    ]
    assert validate_ingress(an_ingress(annotation="a", ingressClassName="b"), an_ingress()) == []


def test_an_address_is_no_host():
    first, second = validate_ingress(an_ingress(host="::1"))

    assert str(first) == 'spec.rules[0].host: Invalid value: "::1": must be a DNS name, not an IP address'
    assert second.path == "spec.rules[0].host"


@pytest.mark.parametrize("wrong", [{"tls": [{"secretName": "A_"}]}, {"host": "*.a.b", "paths": []}])
def test_an_ingress_that_is_stored_with_a_fault_may_keep_it(wrong):
    assert len(validate_ingress(an_ingress(**wrong))) == 1
    assert validate_ingress(an_ingress(**wrong), an_ingress(**wrong)) == []


def a_policy(cidr, *exceptions):
    peer = {"ipBlock": {"cidr": cidr, "except": list(exceptions)}}
    return {"metadata": {"name": "p"}, "spec": {"podSelector": {}, "ingress": [{"from": [peer]}]}}


B = "spec.ingress[0].from[0].ipBlock"


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
    assert said(validate_network_policy(policy)) == errors


def test_ranges_that_are_stored_stay_allowed():
    assert validate_network_policy(a_policy("10.0.0.1/8"), a_policy("10.0.0.1/8")) == []


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("1.2.3.4", []),
        ("01.2.3.4", ["must not have leading 0s"]),
        ("::ffff:1.2.3.4", ["must not be an IPv4-mapped IPv6 address"]),
        ("2001:DB8::1", ['must be in canonical form ("2001:db8::1")']),
    ],
)
def test_an_address_is_named_in_its_usual_form(name, texts):
    assert validate_ip_address_name(name) == texts


def test_an_address_stays_with_its_owner():
    old, new = ({"spec": {"parentRef": {"resource": "services", "name": name}}} for name in "ab")

    assert said(validate_ip_address_update(new, old)) == [
        'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"","Name":"b"}: field is immutable'
    ]


def ranges(*texts):
    return {"spec": {"cidrs": list(texts)}}


@pytest.mark.parametrize(
    ("errors", "texts"),
    [
        (validate_service_cidr(ranges("10.0.0.0/8", "x", "y")), [
            'spec.cidrs: Invalid value: {"CIDRs":["10.0.0.0/8","x","y"]}: may only hold up to 2 values',
        ]),
        (validate_service_cidr(ranges("10.0.0.1/8", "10.1.0.0/16")), [
            f'spec.cidrs: Invalid value: {{"CIDRs":["10.0.0.1/8","10.1.0.0/16"]}}: {FAMILIES}',
        ]),
        (validate_service_cidr(ranges("10.0.0.0/8", "x")), [
            f'spec.cidrs: Invalid value: {{"CIDRs":["10.0.0.0/8","x"]}}: {FAMILIES}',
        ]),
        (validate_service_cidr(ranges("2001:DB8::/64")), [
            'spec.cidrs[0]: Invalid value: "2001:DB8::/64": must be in canonical form ("2001:db8::/64")',
        ]),
        (validate_service_cidr_update(ranges("10.1.0.0/16"), ranges("10.0.0.0/16")), [
            'spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable',
        ]),
        (validate_service_cidr_update(ranges("10.0.0.0/16", "fd00::/64"), ranges("10.0.0.0/16")), []),
        (validate_service_cidr_update(ranges("10.0.0.0/16"), ranges("10.0.0.0/16", "fd00::/64")), [
            'spec.cidrs: Invalid value: ["10.0.0.0/16"]: field is immutable',
        ]),
    ],
)  # fmt: skip
def test_ranges_of_services_that_break_a_rule_are_refused(errors, texts):
    assert said(errors) == texts
