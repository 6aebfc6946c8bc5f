"""What ``/scale`` needs of a custom object, in Kubernetes' words."""

import pytest
from hyperkube_host.apiserver.custom.scale_rules import spec_errors, status_errors

PATHS = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.selector"}

NO_TEXT = ".status.selector accessor error: 1 is of the type int64, expected string"


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        pytest.param({"spec": {"n": 3}}, [], id="a number"),
        pytest.param({}, [], id="nothing"),
        pytest.param(
            {"spec": {"n": -1}}, [".spec.n: Invalid value: -1: should be a non-negative integer"], id="negative"
        ),
        pytest.param(
            {"spec": {"n": 2**31}},
            [".spec.n: Invalid value: 2147483648: should be less than or equal to 2147483647"],
            id="too much",
        ),
        pytest.param(
            {"spec": {"n": "x"}},
            [".spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, expected int64"],
            id="text",
        ),
        pytest.param(
            {"spec": "y"},
            [
                ".spec.n: Invalid value: 0: .spec.n accessor error: y is of the type string, expected map[string]interface{}"
            ],
            id="on the way",
        ),
        pytest.param(
            {"status": {"selector": 1}},
            [f'.status.selector: Invalid value: "": {NO_TEXT}'],
            id="the selector",
        ),
    ],
)
def test_the_places_of_a_scale_are_checked(obj, expected):
    assert [str(error) for error in [*spec_errors(obj, PATHS), *status_errors(obj, PATHS)]] == expected


def test_a_write_to_the_status_is_checked_for_its_own_replicas():
    obj = {"spec": {"n": -1}, "status": {"n": -2}}

    assert [error.path for error in status_errors(obj, PATHS)] == [".status.n"]
    assert [error.path for error in spec_errors(obj, PATHS)] == [".spec.n"]
    assert not [*status_errors(obj, None), *spec_errors(obj, None)]
