"""Ports by name, and names below headless services."""

from hyperkube_lib.endpoints import hostname_of, matters, port_number

POD = {
    "metadata": {"name": "p", "labels": {"a": "b"}},
    "spec": {
        "hostname": "p-0",
        "subdomain": "db",
        "containers": [{"ports": [{"name": "dns", "containerPort": 53, "protocol": "UDP"}]}],
        "initContainers": [
            {"restartPolicy": "Always", "ports": [{"name": "proxy", "containerPort": 15000}]},
            {"ports": [{"name": "setup", "containerPort": 1}]},
        ],
    },
    "status": {"podIP": "10.0.0.1"},
}


def test_a_named_port_needs_the_same_protocol():
    assert port_number(POD, {"targetPort": "dns", "protocol": "UDP"}) == 53
    assert port_number(POD, {"targetPort": "dns"}) is None


def test_a_sidecars_port_counts_and_an_init_containers_does_not():
    assert port_number(POD, {"targetPort": "proxy"}) == 15000
    assert port_number(POD, {"targetPort": "setup"}) is None


def test_without_a_target_the_port_itself_is_meant():
    assert port_number(POD, {"port": 80}) == 80


def test_a_pod_has_a_name_below_the_service_of_its_subdomain():
    assert hostname_of(POD, {"metadata": {"name": "db"}}) == "p-0"
    assert hostname_of(POD, {"metadata": {"name": "other"}}) == ""


def test_only_some_changes_matter():
    annotated = {**POD, "metadata": {**POD["metadata"], "annotations": {"x": "y"}}}

    assert not matters(POD, annotated)
    assert matters(POD, {**POD, "status": {"podIP": "10.0.0.2"}})
