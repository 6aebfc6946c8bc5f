"""The warnings about Jobs."""

import pytest
from hyperkube_api.batch.jobs.strategy import JobStrategy

MANY = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
    "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
)
GRACE = (
    "template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
)
LARGE = {"completionMode": "Indexed", "completions": 100_001, "parallelism": 10_001}


def a_job(name="a", generation=1, **spec):
    return {"metadata": {"name": name, "generation": generation}, "spec": spec}


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({}, []),
        (LARGE, [f"spec: {MANY}"]),
        ({**LARGE, "completions": 100_000}, []),
        ({**LARGE, "parallelism": 10_000}, []),
        ({**LARGE, "completionMode": "NonIndexed"}, []),
        ({"template": {"spec": {"terminationGracePeriodSeconds": -1}}}, [f"spec.{GRACE}"]),
    ],
)
def test_jobs(spec, found):
    strategy = JobStrategy()

    assert strategy.warnings(None, a_job(**spec), None) == found
    assert strategy.warnings(None, a_job(generation=2, **spec), a_job()) == found
    assert strategy.warnings(None, a_job(**spec), a_job()) == []
