"""Tests that begin with a filled cluster: filled once, forked for each test, with a time of its own in each."""

import pytest
from hyperkube_testing.cluster.cluster import ControlPlane

from hyperkube.kinds.resources import CONFIG_MAPS, CRON_JOBS, JOBS
from hyperkube.machinery.clock import FakeClock


@pytest.fixture(scope="session")
def hyperkube_seed():
    """Fill a cluster once; what is returned can be forked after the cluster itself is gone."""
    with ControlPlane(clock=FakeClock(), controller_manager={"controllers": ["cronjob"]}, scheduler=None) as cluster:
        for number in range(100):
            settings = {"metadata": {"name": f"settings-{number}"}, "data": {"colour": "red"}}
            cluster.client.create(CONFIG_MAPS, settings, "default")
        return cluster.snapshot()


def test_one_test_deletes_everything(hyperkube_fork):
    hyperkube_fork.client.delete_collection(CONFIG_MAPS, "default")

    assert hyperkube_fork.client.list(CONFIG_MAPS, "default").items == []


def test_another_one_finds_it_all(hyperkube_fork):
    assert len(hyperkube_fork.client.list(CONFIG_MAPS, "default").items) == 100


def test_hours_pass_in_a_call(hyperkube_fork):
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "any"}]}}
    nightly = {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": template}}}
    hyperkube_fork.client.create(CRON_JOBS, {"metadata": {"name": "nightly"}, "spec": nightly}, "default")

    hyperkube_fork.clock.advance(3 * 3600)

    def nightly_jobs():
        hyperkube_fork.clock.advance(1)  # what a controller puts off for a moment comes, too
        return hyperkube_fork.client.list(JOBS, "default").items

    assert hyperkube_fork.wait(nightly_jobs, "the nightly job", 60)
