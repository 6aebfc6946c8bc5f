"""The warnings about the names of Jobs and CronJobs."""

import pytest
from hyperkube_api.batch.cron_jobs.strategy import CronJobStrategy
from hyperkube_api.batch.jobs.strategy import JobStrategy

DOTS = (
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
    "a DNS label is recommended: [must not contain dots]"
)


def a_job(name="a", generation=1, **spec):
    return {"metadata": {"name": name, "generation": generation}, "spec": spec}


@pytest.mark.parametrize("strategy", [JobStrategy, CronJobStrategy])
def test_names_are_warned_of_once(strategy):
    assert strategy().warnings(None, a_job("a.b"), None) == [DOTS]
    assert strategy().warnings(None, a_job("a.b", 2), a_job("a.b")) == []
