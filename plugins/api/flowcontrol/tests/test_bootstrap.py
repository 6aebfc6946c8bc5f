"""The bootstrap objects are valid; conditions have different types."""

from hyperkube_api.flowcontrol.bootstrap import bootstrap_objects
from hyperkube_api.flowcontrol.conditions import validate_conditions
from hyperkube_api.flowcontrol.flow_schemas.defaults import default_flow_schema
from hyperkube_api.flowcontrol.flow_schemas.validation import validate_flow_schema
from hyperkube_api.flowcontrol.priority_levels.defaults import default_priority_level
from hyperkube_api.flowcontrol.priority_levels.validation import validate_priority_level

from hyperkube.machinery.objects import copy_object


def messages(errors):
    """Return each error as a short row: where, what kind, and the detail or the value."""
    return [f"{error.path} {error.reason.removeprefix('FieldValue')} {error.detail or error.value}" for error in errors]


def test_what_every_cluster_begins_with_breaks_no_rule():
    for made in bootstrap_objects("2024-01-01T00:00:00Z"):
        obj = copy_object(made)
        if obj["kind"] == "FlowSchema":
            default_flow_schema(obj)
            assert validate_flow_schema(obj) == []
        else:
            default_priority_level(obj)
            assert validate_priority_level(obj) == []


def test_conditions_have_types_of_their_own():
    status = {"conditions": [{"type": "A"}, {"type": "A"}, {"type": ""}]}

    assert messages(validate_conditions({"status": status})) == [
        "status.conditions[1].type Duplicate A", "status.conditions[2].type Required must not be empty",
    ]  # fmt: skip
