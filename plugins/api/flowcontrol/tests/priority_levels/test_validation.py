"""The validation of PriorityLevelConfigurations."""

import pytest
from hyperkube_api.flowcontrol.priority_levels.validation import validate_priority_level


def a_level(name="p", **limited):
    response = {"limitResponse": {"type": "Reject"}}
    return {"metadata": {"name": name}, "spec": {"type": "Limited", "limited": {**response, **limited}}}


def messages(errors):
    """Return each error as a short row: where, what kind, and the detail or the value."""
    return [f"{error.path} {error.reason.removeprefix('FieldValue')} {error.detail or error.value}" for error in errors]


@pytest.mark.parametrize(
    ("level", "rows"),
    [
        (a_level(lendablePercent=101, borrowingLimitPercent=-1, limitResponse={"type": "X"}), [
            'spec.limited.limitResponse.type NotSupported supported values: "Queue", "Reject"',
            "spec.limited.lendablePercent Invalid must be between 0 and 100, inclusive",
            "spec.limited.borrowingLimitPercent Invalid if specified, must be a non-negative integer",
        ]),
        (a_level("catch-all"), ["spec Invalid spec of 'catch-all' must equal the fixed value"]),
        (a_level("exempt"), [
            "spec.type Invalid must be 'Exempt' if and only if `name` is 'exempt'",
            "spec Invalid spec of 'exempt' except the 'spec.exempt' field must equal the fixed value",
        ]),
        ({"metadata": {"name": "exempt"}, "spec": {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 9}}}, []),
    ],
)  # fmt: skip
def test_a_level_that_breaks_a_rule_is_refused(level, rows):
    assert messages(validate_priority_level(level)) == rows
