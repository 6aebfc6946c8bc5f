"""What is wrong with devices and claims: one row for each rule, in Kubernetes' words."""

from types import SimpleNamespace

import pytest
from hyperkube_api.resource.device_classes import validate_class
from hyperkube_api.resource.resource_claim_templates import validate_template_update
from hyperkube_api.resource.resource_claims.admin_access import (
    check_allocated_admin_access,
    check_requested_admin_access,
)
from hyperkube_api.resource.resource_claims.defaults import default_claim_spec
from hyperkube_api.resource.resource_claims.status_validation import validate_claim_status
from hyperkube_api.resource.resource_claims.validation import validate_claim
from hyperkube_api.resource.resource_slices.validation import validate_slice

from hyperkube.machinery.objects import copy_object

REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
CLASS = {"deviceClassName": "c"}
OPAQUE = {"opaque": {"driver": "d.example.com", "parameters": {}}}


def said(errors):
    """Return each error as a short row: where, what kind, and the detail or the value."""
    return [f"{error.path} {error.reason.removeprefix('FieldValue')} {error.detail or error.value}" for error in errors]


def a_claim(*requests, **devices):
    spec = {"devices": {"requests": list(requests) or [{"name": "r", "exactly": CLASS}], **devices}}
    spec = copy_object(spec)
    default_claim_spec(spec)
    return {"metadata": {"name": "x", "namespace": "default"}, "spec": spec}


R = "spec.devices.requests"


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
    assert said(validate_claim(claim)) == errors


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"selectors": [{}]}, ["spec.selectors[0].cel Required "]),
        ({"config": [{}]}, ["spec.config[0].opaque Required "]),
        ({"extendedResourceName": "cpu"}, ["spec.extendedResourceName Invalid must be a valid extended resource name"]),
        ({"extendedResourceName": "example.com/gpu", "config": [OPAQUE]}, []),
    ],
)
def test_a_class_that_breaks_a_rule_is_refused(spec, errors):
    assert said(validate_class({"spec": spec})) == errors


def test_the_wish_of_a_template_stays():
    old = {"spec": {"spec": a_claim()["spec"]}}
    new = {"spec": {"metadata": {"labels": {"a": "b"}}, **old["spec"]}}

    assert said(validate_template_update(new, old)) == ["spec Invalid field is immutable"]
    assert validate_template_update(old, old) == []


def a_slice(*devices, **spec):
    base = {
        "driver": "d.example.com",
        "pool": {"name": "p", "resourceSliceCount": 1},
        "nodeName": "n",
        "devices": [{"name": "a", **device} for device in devices],
    }
    return {"metadata": {"name": "s"}, "spec": copy_object({**base, **spec})}


PLACES = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
DEVICE_PLACES = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
D = "spec.devices[0]"


def shared(**policy):
    return a_slice({"allowMultipleAllocations": True, "capacity": {"m": {"value": "8", "requestPolicy": policy}}})


@pytest.mark.parametrize(
    ("obj", "errors"),
    [
        (a_slice(driver="", pool={"name": "", "resourceSliceCount": 0, "generation": -1}), [
            "spec.driver Required ",
            "spec.pool.name Required ",
            "spec.pool.resourceSliceCount Invalid must be greater than zero",
            "spec.pool.generation Invalid must be greater than or equal to zero",
        ]),
        (a_slice(nodeName=None), [f"spec Required {PLACES}"]),
        (a_slice(nodeName=""), [
            "spec.nodeName Invalid must be either unset or set to a non-empty string", f"spec Required {PLACES}",
        ]),
        (a_slice(allNodes=True), [f"spec Invalid {PLACES}, but multiple fields are set"]),
        (a_slice(allNodes=False), ["spec.allNodes Invalid must be either unset or set to true"]),
        (a_slice(nodeName=None, nodeSelector={"nodeSelectorTerms": [{}, {}]}), [
            "spec.nodeSelector.nodeSelectorTerms Invalid must have exactly one node selector term",
        ]),
        (a_slice(sharedCounters=[]), ["spec Invalid only one of `sharedCounters` or `devices` is allowed"]),
        (a_slice(devices=None, sharedCounters=[{"name": "c", "counters": {}}, {"name": "c", "counters": {"x": {}}}]), [
            "spec.sharedCounters[0].counters Required ", "spec.sharedCounters[1] Duplicate c",
        ]),
        (a_slice({}, {}), ["spec.devices[1] Duplicate a"]),
        (a_slice(*[{"taints": [{"key": "k", "effect": "None"}]}] * 65), [
            "spec.devices TooMany must have at most 64 items",
        ]),
        (a_slice({"attributes": {f"a{index}": {"int": 1} for index in range(33)}}), [
            f"{D} Invalid the total number of attributes and capacities must not exceed 32",
        ]),
        (a_slice({"attributes": {"/x": {"int": 1, "bool": True}}}), [
            f"{D}.attributes[/x] Invalid the domain must not be empty",
            f"{D}.attributes[/x] Invalid exactly one value must be specified",
        ]),
        (a_slice({"attributes": {"x": {}}}), [f"{D}.attributes[x] Invalid exactly one value must be specified"]),
        (a_slice({"attributes": {"x": {"version": "1.2"}}}), [
            f"{D}.attributes[x].version Invalid must be a string compatible with semver.org spec 2.0.0",
        ]),
        (a_slice({"attributes": {"x": {"string": "s" * 65}}}), [
            f"{D}.attributes[x].string TooLong may not be more than 64 bytes",
        ]),
        (a_slice({"capacity": {"m": {"value": "1", "requestPolicy": {}}}}), [
            f"{D}.capacity[m].requestPolicy Forbidden allowMultipleAllocations must be true",
        ]),
        (shared(validValues=["1"], validRange={}), [
            (f"{D}.capacity[m].requestPolicy Forbidden exactly one policy can be specified, cannot specify "
            '"validValues" and "validRange" at the same time'),
        ]),
        (shared(validValues=["1"]), [
            f"{D}.capacity[m].requestPolicy.default Required required when validValues is defined",
        ]),
        (shared(default="3", validValues=["2", "1", "9"]), [
            f"{D}.capacity[m].requestPolicy.validValues[1] Invalid values must be sorted in ascending order",
            f"{D}.capacity[m].requestPolicy.validValues[2] Invalid option is larger than capacity value: 8",
            (f"{D}.capacity[m].requestPolicy.validValues Invalid default value is not valid according to the "
            "requestPolicy"),
        ]),
        (shared(default="1", validRange={"min": "2", "max": "9", "step": "3"}), [
            f"{D}.capacity[m].requestPolicy.validRange.min Invalid default is less than min: 2",
            f"{D}.capacity[m].requestPolicy.validRange.max Invalid max is larger than capacity value: 8",
            (f"{D}.capacity[m].requestPolicy.validRange.step Invalid value is not a multiple of a given step (3) from "
            "(2)"),
            (f"{D}.capacity[m].requestPolicy.validRange.step Invalid value is not a multiple of a given step (3) from "
            "(2)"),
        ]),
        (shared(default="1", validRange={}), [
            f"{D}.capacity[m].requestPolicy.validRange.min Required required when validRange is defined",
        ]),
        (a_slice({"taints": [{"key": "k", "effect": "X"}, {"key": "k"}]}), [
            f'{D}.taints[0].effect NotSupported supported values: "NoExecute", "NoSchedule", "None"',
            f"{D}.taints[1].effect Required ",
        ]),
        (a_slice({"consumesCounters": [{"counterSet": "c", "counters": {"x": {}}}] * 2}), [
            f"{D}.consumesCounters[1] Duplicate c",
        ]),
        (a_slice({"allNodes": True}), [
            (f"{D} Invalid `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set "
            "to true in the ResourceSlice spec"),
        ]),
        (a_slice({}, nodeName=None, perDeviceNodeSelection=True), [f"{D} Required {DEVICE_PLACES}"]),
        (a_slice({"nodeName": "n", "allNodes": True}, nodeName=None, perDeviceNodeSelection=True), [
            f"{D} Invalid {DEVICE_PLACES}",
        ]),
        (a_slice({"bindingConditions": ["a", "a"]}), [
            f"{D}.bindingConditions[1] Duplicate a",
            f"{D}.bindingFailureConditions Invalid bindingFailureConditions are required to use bindingConditions",
        ]),
        (a_slice({"bindingConditions": ["a"], "bindingFailureConditions": ["a"]}), [
            (f"{D}.bindingFailureConditions[0] Invalid bindingFailureConditions must not overlap with "
            "bindingConditions"),
        ]),
    ],
)  # fmt: skip
def test_a_slice_that_breaks_a_rule_is_refused(obj, errors):
    assert said(validate_slice(obj)) == errors


def test_a_slice_stays_with_its_driver_pool_and_node():
    new = a_slice(driver="e.example.com", pool={"name": "q", "resourceSliceCount": 1}, nodeName="m")

    assert said(validate_slice(new, a_slice())) == [
        "spec.pool.name Invalid field is immutable",
        "spec.driver Invalid field is immutable",
        "spec.nodeName Invalid field is immutable",
    ]


def test_taints_that_stayed_are_not_looked_at_again():
    wrong = a_slice({"taints": [{"key": "k", "effect": "X"}]})

    assert validate_slice(wrong, wrong) == []


DEVICE = {"driver": "d.example.com", "pool": "p", "device": "a"}
GIVEN = {"devices": {"results": [{"request": "r", **DEVICE}]}}
USER = {"resource": "pods", "name": "p", "uid": "1"}


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

    assert said(validate_claim_status({**claim, "status": status}, {**claim, "status": before})) == errors


def test_a_claim_that_goes_away_gets_no_new_users():
    claim = a_claim()
    claim["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z"
    before = {"allocation": GIVEN, "reservedFor": [USER]}
    after = {"allocation": GIVEN, "reservedFor": [USER, {**USER, "uid": "2"}]}

    assert said(validate_claim_status({**claim, "status": after}, {**claim, "status": before})) == [
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

    assert said(wished) == ([] if allowed else [f"{R}[0].adminAccess {text}"])
    assert said(granted) == ([] if allowed else [f"status.allocation.devices.results[0].adminAccess {text}"])
    assert check_allocated_admin_access(call, got, got) == []
