"""The service controller with a cloud whose balancers are addresses counted up."""

import pytest
from balancer_world import CLOUD, Balancers, node, run, said, service
from hyperkube_controller.service import Service

from hyperkube.hookspecs.cloud import ImplementedElsewhere
from hyperkube.kinds.resources import NODES, SERVICES
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


class TestContract(ControllerContract):
    plugin = Service
    settings = CLOUD

    def populate(self, rig):
        rig.client.seed(SERVICES, service())


def test_a_service_gets_an_address(balancers):
    rig = run(service())

    (found,) = rig.client.objects(SERVICES)
    assert found["status"] == {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}
    assert found["metadata"]["finalizers"] == ["service.kubernetes.io/load-balancer-cleanup"]
    assert balancers.nodes == ["a", "b"]
    assert said(rig) == {
        "EnsuringLoadBalancer": "Ensuring load balancer",
        "EnsuredLoadBalancer": "Ensured load balancer",
    }


@pytest.mark.parametrize("other", [service("ClusterIP"), service(loadBalancerClass="x/y")], ids=["type", "class"])
def test_other_services_get_none(balancers, other):
    run(other)

    assert balancers.held == {}


@pytest.mark.parametrize("options", [{}, {"cloud_provider": "external"}], ids=["no cloud", "external"])
def test_without_a_cloud_nothing_happens(balancers, options):
    run(service(), options=options)

    assert balancers.held == {}


def test_a_deleted_service_gives_it_back(balancers):
    rig = run(service())

    rig.client.delete(SERVICES, "web", "d")
    rig.settle()

    assert balancers.held == {}
    assert rig.client.objects(SERVICES) == []


def test_a_service_that_wants_none_any_more_gives_it_back(balancers):
    rig = run(service())

    rig.client.patch(SERVICES, "web", {"spec": {"type": "ClusterIP"}}, "d")
    rig.settle()

    (found,) = rig.client.objects(SERVICES)
    assert balancers.held == {}
    assert found["metadata"]["finalizers"] == []
    assert found["status"] == {"loadBalancer": {}}


def test_balancers_follow_the_nodes(balancers):
    rig = run(service())

    rig.client.seed(NODES, node("d"))
    rig.settle()

    assert balancers.nodes == ["a", "b", "d"]
    assert said(rig)["UpdatedLoadBalancer"] == "Updated load balancer with new hosts"


def test_balancers_that_can_are_told_of_the_nodes_alone(balancers, monkeypatch):
    told = []
    monkeypatch.setattr(
        Balancers, "update", lambda _self, _cluster, _service, nodes: told.append(len(nodes)), raising=False
    )
    rig = run(service())

    rig.client.seed(NODES, node("d"))
    rig.settle()

    assert told == [3]
    assert balancers.nodes == ["a", "b"]


def test_what_another_takes_care_of_is_left_to_it_without_an_event(balancers, monkeypatch):
    def elsewhere(*_arguments):
        raise ImplementedElsewhere("another controller has it")

    monkeypatch.setattr(Balancers, "ensure", elsewhere)
    rig = run(service())

    assert said(rig) == {"EnsuringLoadBalancer": "Ensuring load balancer"}
    assert rig.client.objects(SERVICES)[0]["status"] == {}


def test_failures_are_told_and_retried(balancers):
    balancers.full = True
    rig = run(service())
    text = said(rig)["SyncLoadBalancerFailed"]

    balancers.full = False
    rig.advance(10)

    assert text == "Error syncing load balancer: failed to ensure load balancer: no address left"
    assert balancers.held


def test_nodes_that_a_balancer_cannot_be_told_of_are_told_of(balancers):
    rig = run(service())
    balancers.full = True
    rig.client.seed(NODES, node("d"))
    rig.settle()

    balancers.full = False
    rig.advance(10)

    limited = "[node names limited, total number of nodes: 3]"
    text = f"Error updating load balancer with new hosts [a b d] {limited}, error: no address left"
    assert said(rig)["UpdateLoadBalancerFailed"] == text
    assert balancers.nodes == ["a", "b", "d"]


def test_a_balancer_is_asked_for_again_only_when_what_it_is_made_from_has_changed(balancers):
    rig = run(service())
    balancers.nodes = []
    rig.client.patch(SERVICES, "web", {"metadata": {"labels": {"x": "y"}}}, "d")
    rig.settle()
    untouched = balancers.nodes

    rig.client.patch(SERVICES, "web", {"spec": {"loadBalancerIP": "192.0.2.9"}}, "d")
    rig.settle()

    assert untouched == []
    assert balancers.nodes == ["a", "b"]


def test_a_service_without_nodes_is_told_of():
    rig = ControllerRig(Service, settings=CLOUD)
    rig.client.seed(SERVICES, service())

    rig.settle()

    assert said(rig)["UnAvailableLoadBalancer"] == "There are no available nodes for LoadBalancer"


def test_giving_back_is_told(balancers):
    rig = run(service())

    rig.client.patch(SERVICES, "web", {"spec": {"type": "ClusterIP"}}, "d")
    rig.settle()

    told = said(rig)
    assert told["DeletingLoadBalancer"] == "Deleting load balancer"
    assert told["DeletedLoadBalancer"] == "Deleted load balancer"


def test_a_service_that_went_without_waiting_gives_it_back_all_the_same(balancers):
    rig = run(service())
    rig.client.patch(SERVICES, "web", {"metadata": {"finalizers": None}}, "d")
    rig.client.delete(SERVICES, "web", "d")

    rig.settle()

    assert balancers.held == {}
    assert said(rig)["DeletedLoadBalancer"] == "Deleted load balancer"


def test_a_lost_balancer_that_cannot_be_given_back_is_told_and_tried_again(balancers):
    rig = run(service())
    balancers.throttled = True
    rig.client.patch(SERVICES, "web", {"metadata": {"finalizers": None}}, "d")
    rig.client.delete(SERVICES, "web", "d")
    rig.settle()
    assert said(rig)["DeleteLoadBalancerFailed"] == "Error deleting load balancer: throttled"

    balancers.throttled = False
    rig.advance(10)

    assert balancers.held == {}


def test_a_balancer_that_loses_its_last_node_is_told_of(balancers):
    rig = run(service())

    for name in ("a", "b"):
        rig.client.delete(NODES, name)
    rig.settle()

    assert balancers.nodes == []
    assert said(rig)["UnAvailableLoadBalancer"] == "There are no available nodes for LoadBalancer"
