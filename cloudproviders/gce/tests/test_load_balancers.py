"""Balancers that exist already, that change their kind, and that others make."""

import pytest
from hyperkube_testing.rest_cloud import shape

from hyperkube.hookspecs.cloud import CloudFailed, ImplementedElsewhere
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.objects import copy_object

INTERNAL = {"networking.gke.io/load-balancer-type": "Internal"}


def kept(double):
    return sorted(path for path in double.things if path.count("/") > 1 and "/instances/" not in path)


def test_nothing_is_asked_to_change_where_all_is_as_it_should_be(double, cloud):
    nodes = [double.machine()]
    for wanted in (shape("outer"), shape("inner", annotations=INTERNAL)):
        status = cloud.load_balancers.ensure("c", wanted, nodes)
        double.sent.clear()

        assert cloud.load_balancers.ensure("c", wanted, nodes) == status
        changed = [(method, path) for method, path, _ in double.sent if double.changes(method, path)]
        assert [method for method, _ in changed] == ["DELETE"] if wanted["metadata"]["name"] == "outer" else changed


@pytest.mark.parametrize("first", ["", "Internal"], ids=["external", "internal"])
def test_a_balancer_that_changes_its_kind_leaves_nothing_of_the_other(double, cloud, first):
    nodes = [double.machine()]
    other = "" if first else "Internal"
    kinds = {text: shape("web", annotations={"networking.gke.io/load-balancer-type": text}) for text in (first, other)}
    cloud.load_balancers.ensure("c", kinds[other], nodes)
    alone = kept(double)
    cloud.load_balancers.ensure_deleted("c", kinds[other])
    cloud.load_balancers.ensure("c", kinds[first], nodes)

    cloud.load_balancers.ensure("c", kinds[other], nodes)

    assert kept(double) == alone


def test_the_address_survives_another_port_and_another_affinity(double, cloud):
    nodes = [double.machine()]
    status = cloud.load_balancers.ensure("c", shape("web"), nodes)

    changed = shape("web", (8080, "TCP"), sessionAffinity="ClientIP")

    assert cloud.load_balancers.ensure("c", changed, nodes) == status
    assert double.made("addresses") == []


def test_a_service_that_becomes_local_gets_a_check_of_its_own_and_back(double, cloud):
    nodes = [double.machine()]
    local = shape("web", externalTrafficPolicy="Local", healthCheckNodePort=31234)
    cloud.load_balancers.ensure("c", shape("web"), nodes)
    any_node = kept(double)

    cloud.load_balancers.ensure("c", local, nodes)
    assert double.made("httpHealthChecks") == ["auidweb"]
    assert "k8s-auidweb-http-hc" in double.made("firewalls")
    cloud.load_balancers.ensure("c", shape("web"), nodes)

    assert kept(double) == any_node


def test_the_shared_check_stays_while_another_balancer_uses_it(double, cloud):
    nodes = [double.machine()]
    for name in ("one", "two"):
        cloud.load_balancers.ensure("c", shape(name), nodes)

    cloud.load_balancers.ensure_deleted("c", shape("one"))
    assert double.made("httpHealthChecks") == ["k8s-0123456789abcdef-node"]
    cloud.load_balancers.ensure_deleted("c", shape("two"))

    assert double.made("httpHealthChecks") == double.made("firewalls") == []


def test_an_address_of_the_users_is_used_and_never_released(double, cloud):
    nodes = [double.machine()]
    double.things["regions/us-central1/addresses/mine"] = {
        "name": "mine",
        "address": "203.0.113.99",
        "networkTier": "STANDARD",
    }
    wanted = shape("web", loadBalancerIP="203.0.113.99")

    with pytest.raises(
        CloudFailed, match=r'requested IP "203.0.113.99" belongs to the Standard network tier; expected Premium'
    ):
        cloud.load_balancers.ensure("c", wanted, nodes)
    wanted["metadata"]["annotations"] = {"cloud.google.com/network-tier": "Standard"}
    assert cloud.load_balancers.ensure("c", wanted, nodes) == {"ingress": [{"ip": "203.0.113.99"}]}
    cloud.load_balancers.ensure_deleted("c", wanted)

    assert double.made("addresses") == ["mine"]


def test_what_kubernetes_provider_made_is_adopted_and_its_finalizer_taken_off(double, built, cloud):
    nodes = [double.machine()]
    wanted = shape("inner", annotations=INTERNAL)
    wanted["metadata"]["finalizers"] = ["service.kubernetes.io/load-balancer-cleanup", "gke.networking.io/l4-ilb-v1"]
    assert cloud.load_balancers.get("c", wanted) == {}
    built.client.seed(SERVICES, copy_object(wanted))
    status = cloud.load_balancers.ensure("c", shape("inner", annotations=INTERNAL), nodes)

    assert cloud.load_balancers.ensure("c", wanted, nodes) == status
    (held,) = built.client.objects(SERVICES)
    assert held["metadata"]["finalizers"] == ["service.kubernetes.io/load-balancer-cleanup"]


def test_a_balancer_of_another_controllers_is_left_alone(double, cloud):
    nodes = [double.machine()]
    for wanted in (
        shape("a", annotations=INTERNAL) | {},
        shape("b"),
    ):
        finalizer = (
            "gke.networking.io/l4-ilb-v2" if wanted["metadata"]["annotations"] else "gke.networking.io/l4-netlb-v2"
        )
        wanted["metadata"]["finalizers"] = [finalizer]
        with pytest.raises(ImplementedElsewhere, match=finalizer):
            cloud.load_balancers.ensure("c", wanted, nodes)
        cloud.load_balancers.ensure_deleted("c", wanted)
    assert not [method for method, path, _ in double.sent if double.changes(method, path)]


def test_a_firewall_in_anothers_project_is_told_to_its_admin(double, tmp_path):
    from gce_google import built, error, provider

    plugin = built(double, tmp_path, network_project_id="host-project")
    play = double.play

    def refusing(method, path, query, body):
        if "/firewalls" in path and method != "GET":
            return error(403, "forbidden", "Required 'compute.firewalls.create' permission")
        return play(method, path, query, body)

    double.play = refusing
    told = []
    plugin._tell = lambda service, text: told.append(text)

    provider(plugin).load_balancers.ensure("c", shape("web"), [double.machine()])

    assert told[0] == (
        "Firewall change required by security admin: `gcloud compute firewall-rules create k8s-fw-auidweb --network default"
        ' --description "{\\"kubernetes.io/service-name\\":\\"default/web\\", \\"kubernetes.io/service-ip\\":\\"203.0.113.50\\"}"'
        " --allow tcp:80 --source-ranges 0.0.0.0/0 --target-tags node --project host-project`"
    )


def test_the_clusters_id_is_made_once(double, tmp_path):
    from hyperkube_cloud.gce.cluster_id import ClusterId

    from hyperkube.client.fake import FakeClient
    from hyperkube.kinds.resources import CONFIG_MAPS

    client = FakeClient()

    first = ClusterId(client).get()

    (held,) = client.objects(CONFIG_MAPS)
    assert held["data"] == {"provider-uid": first, "uid": first}
    assert ClusterId(client).get() == first
    assert len(first) == 16
    with pytest.raises(CloudFailed, match="there is no API to ask"):
        ClusterId(None).get()
