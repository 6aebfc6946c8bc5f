"""The validation of leases: one row for each rule, with the texts of Kubernetes."""

import pytest
from hyperkube_api.coordination.strategy import LeaseStrategy


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"leaseDurationSeconds": 0}, ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"]),
        ({"leaseTransitions": -1}, [
            "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
        ]),
        ({"strategy": "X"}, [
            'spec.strategy.strategy: Unsupported value: "X": supported values: "OldestEmulationVersion"',
        ]),
        ({"strategy": "example.com/mine"}, []),
        ({"strategy": "example.com/"}, ['spec.strategy.strategy: Invalid value: "example.com/": name part must be non-empty']),
        ({"preferredHolder": "a"}, [
            "spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined",
        ]),
    ],
)  # fmt: skip
def test_a_lease_that_breaks_a_rule_is_refused(spec, errors):
    messages = [str(error) for error in LeaseStrategy().validate(None, {"spec": spec})]

    assert messages[: len(errors) or None] == errors
