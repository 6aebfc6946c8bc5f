"""The validation of ResourceSlices."""

import pytest
from hyperkube_api.resource.resource_slices.validation import validate_slice

from hyperkube.machinery.objects import copy_object

PLACES = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
DEVICE_PLACES = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
D = "spec.devices[0]"


def messages(errors):
    """Return each error as a short row: where, what kind, and the detail or the value."""
    return [f"{error.path} {error.reason.removeprefix('FieldValue')} {error.detail or error.value}" for error in errors]


def a_slice(*devices, **spec):
    base = {
        "driver": "d.example.com",
        "pool": {"name": "p", "resourceSliceCount": 1},
        "nodeName": "n",
        "devices": [{"name": "a", **device} for device in devices],
    }
    return {"metadata": {"name": "s"}, "spec": copy_object({**base, **spec})}


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
    assert messages(validate_slice(obj)) == errors


def test_a_slice_stays_with_its_driver_pool_and_node():
    new = a_slice(driver="e.example.com", pool={"name": "q", "resourceSliceCount": 1}, nodeName="m")

    assert messages(validate_slice(new, a_slice())) == [
        "spec.pool.name Invalid field is immutable",
        "spec.driver Invalid field is immutable",
        "spec.nodeName Invalid field is immutable",
    ]


def test_taints_that_stayed_are_not_looked_at_again():
    wrong = a_slice({"taints": [{"key": "k", "effect": "X"}]})

    assert validate_slice(wrong, wrong) == []
