"""The cloud in memory keeps what every cloud promises, whatever call fails."""

from functools import partial

import pytest
from hyperkube_cloud.fake import GONE_LABEL, OFF_LABEL, Fake, FakeInstances, FakeLoadBalancers, FakeThings
from hyperkube_testing.cloud_faults import Fault, FaultContract, FaultyCloud

from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.plugin import PluginContext


def node(**labels):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "labels": labels},
        "spec": {"providerID": "fake://n1"},
        "status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]},
    }


class FaultyThings(FaultyCloud, FakeThings):
    """A cloud that outlives its provider, and whose calls meet faults."""

    def __init__(self):
        FaultyCloud.__init__(self)
        FakeThings.__init__(self)

    def put(self, kind, name, thing):
        self._through("PUT", kind, partial(super().put, kind, name, thing))

    def delete(self, kind, name):
        self._through("DELETE", kind, partial(super().delete, kind, name))

    def everything(self):
        return dict(self._things)

    def _through(self, method, kind, act):
        self.let_another_in(method, kind)
        due = self.due(method, kind)
        if due is Fault.FAIL:
            raise CloudUnavailable("the cloud is down")
        act()
        if due is Fault.LOSE:
            raise CloudUnavailable("the answer was lost")


class TestContract(FaultContract):
    @pytest.fixture
    def double(self):
        return FaultyThings()

    @pytest.fixture
    def built(self, double):
        class Played(Fake):
            def things(self):
                return double

        return Played(PluginContext(name="fake"))

    def node(self):
        return node()

    def ssh_keys(self, instances):
        return list(instances.ssh_keys)


def test_faults_are_met_at_each_of_a_balancers_changing_calls():
    things = FaultyThings()
    balancers, service = FakeLoadBalancers(things), {"metadata": {"name": "a", "uid": "u"}}

    met = []
    for at in range(1, 4):
        with things.faulty(Fault.KILL, at):
            balancers.ensure("c", service, [node()])
        met.append((things.met, len(things.everything())))
        balancers.ensure_deleted("c", service)

    assert met == [(True, 0), (True, 1), (False, 2)]


def test_a_label_takes_the_machine_away():
    instances = FakeInstances()

    assert instances.exists(node())
    assert not instances.exists(node(**{GONE_LABEL: ""}))


def test_a_label_shuts_the_machine_down():
    instances = FakeInstances()

    assert instances.is_shut_down(node(**{OFF_LABEL: ""}))
    assert not instances.is_shut_down(node())
