"""The validation of ResourceClaims."""

from types import SimpleNamespace

import pytest
from hyperkube_api.resource.resource_claims.admin_access import (
    check_allocated_admin_access,
    check_requested_admin_access,
)
from hyperkube_api.resource.resource_claims.defaults import default_claim_spec
from hyperkube_api.resource.resource_claims.status_validation import validate_claim_status
from hyperkube_api.resource.resource_claims.validation import validate_claim

from hyperkube.machinery.objects import copy_object

REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
CLASS = {"deviceClassName": "c"}
OPAQUE = {"opaque": {"driver": "d.example.com", "parameters": {}}}
R = "spec.devices.requests"
DEVICE = {"driver": "d.example.com", "pool": "p", "device": "a"}
GIVEN = {"devices": {"results": [{"request": "r", **DEVICE}]}}
USER = {"resource": "pods", "name": "p", "uid": "1"}


def messages(errors):
    """Return each error as a short row: where, what kind, and the detail or the value."""
    return [f"{error.path} {error.reason.removeprefix('FieldValue')} {error.detail or error.value}" for error in errors]


def a_claim(*requests, **devices):
    spec = {"devices": {"requests": list(requests) or [{"name": "r", "exactly": CLASS}], **devices}}
    spec = copy_object(spec)
    default_claim_spec(spec)
    return {"metadata": {"name": "x", "namespace": "default"}, "spec": spec}


@pytest.mark.parametrize(
    ("claim", "errors"),
    [
        (a_claim({"name": "r", "exactly": CLASS, "firstAvailable": [{"name": "a", **CLASS}]}), [
            f"{R}[0] Invalid exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set",
        ]),
        (a_claim({"name": "r", "firstAvailable": [{"name": "a", **CLASS}] * 9}), [
            f"{R}[0].firstAvailable TooMany must have at most 8 items",
        ]),
        (a_claim({"name": "r", "firstAvailable": [{"name": "a", **CLASS}] * 2}), [
            f"{R}[0].firstAvailable[1] Duplicate a",
        ]),
        (a_claim({"name": "r", "exactly": {**CLASS, "selectors": [{}]}}), [
            f"{R}[0].exactly.selectors[0].cel Required ",
        ]),
        (a_claim({"name": "r", "exactly": {**CLASS, "selectors": [{"cel": {"expression": "x" * 10241}}]}}), [
            f"{R}[0].exactly.selectors[0].cel.expression TooLong may not be more than 10240 bytes",
        ]),
        (a_claim({"name": "r", "exactly": {**CLASS, "tolerations": [{"operator": "Exists", "value": "v"}]}}), [
            f"{R}[0].exactly.tolerations[0].value Invalid must be empty for operator `Exists`",
        ]),
        (a_claim({"name": "r", "exactly": {**CLASS, "tolerations": [{"operator": "X", "effect": "Y"}]}}), [
            f'{R}[0].exactly.tolerations[0].operator NotSupported supported values: "Equal", "Exists"',
            f'{R}[0].exactly.tolerations[0].effect NotSupported supported values: "NoExecute", "NoSchedule", "None"',
        ]),
        (a_claim(constraints=[{"requests": ["r", "r"], "matchAttribute": "x"}]), [
            "spec.devices.constraints[0].requests[1] Duplicate r",
            ("spec.devices.constraints[0].matchAttribute Invalid a fully qualified name must be a domain and a name "
            "separated by a slash"),
        ]),
        (a_claim(constraints=[{}]), [
            ('spec.devices.constraints[0] Required exactly one of "matchAttribute" or "distinctAttribute" is required, '
            "but multiple fields are set"),
        ]),
        (a_claim(constraints=[{"requests": ["a/b/c"], "matchAttribute": "d.example.com/x"}]), [
            f"spec.devices.constraints[0].requests[0] Invalid {REFERENCE}",
        ]),
        (a_claim(config=[{}]), ["spec.devices.config[0].opaque Required "]),
        (a_claim(config=[{"opaque": {"driver": "", "parameters": [1]}}]), [
            "spec.devices.config[0].opaque.driver Required ",
            "spec.devices.config[0].opaque.parameters Invalid must be a valid JSON object",
        ]),
        (a_claim(config=[OPAQUE] * 33), ["spec.devices.config TooMany must have at most 32 items"]),
    ],
)  # fmt: skip
def test_a_claim_that_breaks_a_rule_is_refused(claim, errors):
    assert messages(validate_claim(claim)) == errors


@pytest.mark.parametrize(
    ("before", "status", "errors"),
    [
        ({}, {"reservedFor": [USER]}, [
            "status.reservedFor Forbidden may not be specified when `allocated` is not set",
        ]),
        ({}, {"allocation": GIVEN, "reservedFor": [USER, {**USER, "name": ""}]}, [
            "status.reservedFor[1].name Required ", "status.reservedFor[1] Duplicate 1",
        ]),
        ({}, {"allocation": GIVEN, "devices": [{**DEVICE, "device": "b"}]}, [
            "status.devices[0] Invalid must be an allocated device in the claim",
        ]),
        ({}, {"allocation": GIVEN, "devices": [{**DEVICE, "data": [1], "networkData": {"ips": ["10.0.0.1", "x/8"]}}]}, [
            "status.devices[0].data Invalid must be a valid JSON object",
            ("status.devices[0].networkData.ips[0] Invalid must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or "
            "2001:db8::1/64)"),
            ("status.devices[0].networkData.ips[1] Invalid must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or "
            "2001:db8::1/64)"),
        ]),
        ({}, {"allocation": {"devices": {"results": [{"request": "q", **DEVICE}], "config": [{"source": "X", **OPAQUE}]}}}, [
            f"status.allocation.devices.results[0].request Invalid {REFERENCE}",
            'status.allocation.devices.config[0].source NotSupported supported values: "FromClaim", "FromClass"',
        ]),
        ({"allocation": GIVEN}, {"allocation": {"devices": {}}}, ["status.allocation Invalid field is immutable"]),
        ({"allocation": GIVEN}, {}, []),
    ],
)  # fmt: skip
def test_a_report_that_breaks_a_rule_is_refused(before, status, errors):
    claim = a_claim()

    assert messages(validate_claim_status({**claim, "status": status}, {**claim, "status": before})) == errors


def test_a_claim_that_goes_away_gets_no_new_users():
    claim = a_claim()
    claim["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z"
    before = {"allocation": GIVEN, "reservedFor": [USER]}
    after = {"allocation": GIVEN, "reservedFor": [USER, {**USER, "uid": "2"}]}

    assert messages(validate_claim_status({**claim, "status": after}, {**claim, "status": before})) == [
        (
            "status.reservedFor Forbidden new entries may not be added while `deallocationRequested` or "
            "`deletionTimestamp` are set"
        )
    ]
    assert validate_claim_status({**claim, "status": before}, {**claim, "status": before}) == []


@pytest.mark.parametrize(("labels", "allowed"), [({}, False), ({"resource.kubernetes.io/admin-access": "true"}, True)])
def test_devices_in_use_go_to_marked_namespaces_only(labels, allowed):
    namespace = {"metadata": {"name": "default", "labels": labels}}
    call = SimpleNamespace(namespace="default", objects=SimpleNamespace(get=lambda *_: namespace))
    claim = a_claim({"name": "r", "exactly": {**CLASS, "adminAccess": True}})
    got = {"status": {"allocation": {"devices": {"results": [{**DEVICE, "adminAccess": True}]}}}}
    text = (
        "Forbidden admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the "
        "containing namespace"
    )

    wished, granted = check_requested_admin_access(call, claim["spec"]), check_allocated_admin_access(call, got, claim)

    assert messages(wished) == ([] if allowed else [f"{R}[0].adminAccess {text}"])
    assert messages(granted) == ([] if allowed else [f"status.allocation.devices.results[0].adminAccess {text}"])
    assert check_allocated_admin_access(call, got, got) == []
