"""What strategies of workloads set and drop."""

from types import SimpleNamespace

import pytest
from hyperkube_api.apps.daemon_sets.strategy import TEMPLATE_GENERATION, DaemonSetStrategy
from hyperkube_api.apps.stateful_sets.strategy import StatefulSetStrategy


def daemon_set(**annotations):
    return {"metadata": {"name": "d", "annotations": annotations}, "spec": {"template": {"spec": {}}}}


def stateful_set():
    return {"metadata": {"name": "s"}, "spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}}}}


def kept(obj):
    return obj["spec"]["updateStrategy"]["rollingUpdate"]


@pytest.mark.parametrize(("given", "shown"), [({}, "0"), ({TEMPLATE_GENERATION: "5"}, "5")])
def test_every_daemon_set_shows_the_generation_of_its_template(given, shown):
    obj = daemon_set(**given)

    DaemonSetStrategy().default(obj)

    assert obj["metadata"]["annotations"] == {TEMPLATE_GENERATION: shown}


@pytest.mark.parametrize(("gates", "left"), [({}, {}), ({"MaxUnavailableStatefulSet": True}, {"maxUnavailable": 2})])
def test_how_many_pods_of_a_stateful_set_may_be_away_is_behind_a_gate(gates, left):
    created, changed, call = stateful_set(), stateful_set(), SimpleNamespace(gates=gates)

    StatefulSetStrategy().prepare_create(call, created)
    StatefulSetStrategy().prepare_update(call, changed, {"spec": {}})

    assert (kept(created), kept(changed)) == (left, left)


def test_what_is_in_use_behind_a_gate_stays():
    obj = stateful_set()

    StatefulSetStrategy().prepare_update(SimpleNamespace(gates={}), obj, stateful_set())

    assert kept(obj) == {"maxUnavailable": 2}
