"""The validation of DeviceClasses."""

import pytest
from hyperkube_api.resource.device_classes import validate_class

OPAQUE = {"opaque": {"driver": "d.example.com", "parameters": {}}}


def messages(errors):
    """Return each error as a short row: where, what kind, and the detail or the value."""
    return [f"{error.path} {error.reason.removeprefix('FieldValue')} {error.detail or error.value}" for error in errors]


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
    assert messages(validate_class({"spec": spec})) == errors
