"""A container's variables."""

import base64

import pytest
from hyperkube_host.kubelet.container.expansion import expand
from hyperkube_host.kubelet.kuberuntime.environment import ConfigFailed, Environment, service_variables, services_for

from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupResource

POD = {
    "metadata": {"name": "p", "namespace": "ns", "uid": "u", "labels": {"app": "web"}},
    "spec": {
        "nodeName": "n",
        "serviceAccountName": "sa",
        "containers": [{"name": "c", "resources": {"limits": {"cpu": "250m"}}}],
    },
}
MAPS = {"cm": {"data": {"COLOUR": "blue", "bad key=": "x"}}}
SECRETS = {"s": {"data": {"KEY": base64.b64encode(b"hunter2").decode()}}}


def find(objects, resource):
    def get(_namespace, name):
        if name not in objects:
            raise NotFound.about(GroupResource("", resource), name)
        return objects[name]

    return get


def build(services=(), **container):
    return Environment(
        POD,
        {**POD["spec"]["containers"][0], **container},
        services=services,
        ips={"status.podIP": "127.1.0.2"},
        allocatable={"memory": "1Gi"},
        get_config_map=find(MAPS, "configmaps"),
        get_secret=find(SECRETS, "secrets"),
    ).build()


@pytest.mark.parametrize(
    ("text", "value"),
    [("$(A)-$(B)", "1-$(B)"), ("$$(A)", "$(A)"), ("$A", "$A"), ("$(A", "$(A"), ("a$$b", "a$b"), ("$(A)$(A)", "11")],
)
def test_references_are_expanded(text, value):
    assert expand(text, {"A": "1"}) == value


def test_a_value_may_use_earlier_ones():
    env = build(env=[{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)2"}, {"name": "C", "value": "$(D)"}])

    assert env == {"A": "1", "B": "12", "C": "$(D)"}


def test_fields_and_resources():
    def field(path):
        return {"fieldRef": {"fieldPath": path}}

    env = build(
        env=[
            {"name": "NAME", "valueFrom": field("metadata.name")},
            {"name": "APP", "valueFrom": field("metadata.labels['app']")},
            {"name": "IP", "valueFrom": field("status.podIP")},
            {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}},
            {"name": "MEMORY", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}},
        ]
    )

    assert env == {"NAME": "p", "APP": "web", "IP": "127.1.0.2", "CPU": "250", "MEMORY": "1024"}


def test_config_maps_and_secrets():
    env = build(
        envFrom=[{"prefix": "X_", "configMapRef": {"name": "cm"}}, {"secretRef": {"name": "nosuch", "optional": True}}],
        env=[
            {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "s", "key": "KEY"}}},
            {"name": "NONE", "valueFrom": {"configMapKeyRef": {"name": "cm", "key": "nosuch", "optional": True}}},
        ],
    )

    assert env == {"X_COLOUR": "blue", "PASSWORD": "hunter2"} | {
        key: value for key, value in env.items() if key.startswith("X_bad")
    }


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"secretKeyRef": {"name": "nosuch", "key": "k"}}, 'secrets "nosuch" not found'),
        ({"configMapKeyRef": {"name": "cm", "key": "k"}}, "couldn't find key k in ConfigMap ns/cm"),
        ({"fieldRef": {"fieldPath": "spec.nosuch"}}, "unsupported fieldPath: spec.nosuch"),
    ],
)
def test_what_is_missing_is_told(source, text):
    with pytest.raises(ConfigFailed) as caught:
        build(env=[{"name": "A", "valueFrom": source}])

    assert str(caught.value) == text


def service(name, namespace="ns", ip="10.0.0.5", ports=({"name": "http", "port": 80},)):
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"clusterIP": ip, "ports": list(ports)}}


def test_a_service_becomes_variables():
    assert service_variables([service("my-db"), service("headless", ip="None")]) == {
        "MY_DB_SERVICE_HOST": "10.0.0.5", "MY_DB_SERVICE_PORT": "80", "MY_DB_SERVICE_PORT_HTTP": "80",
        "MY_DB_PORT": "tcp://10.0.0.5:80", "MY_DB_PORT_80_TCP": "tcp://10.0.0.5:80", "MY_DB_PORT_80_TCP_PROTO": "tcp",
        "MY_DB_PORT_80_TCP_PORT": "80", "MY_DB_PORT_80_TCP_ADDR": "10.0.0.5",
    }  # fmt: skip


def test_only_the_pods_namespace_and_the_api_server_count():
    env = build([service("a"), service("b", "other"), service("kubernetes", "default")])

    assert {name for name in env if name.endswith("_SERVICE_HOST")} == {"A_SERVICE_HOST", "KUBERNETES_SERVICE_HOST"}


def test_ports_that_cannot_be_bound_are_told_as_they_are_served():
    spec = {"clusterIP": "127.1.128.9", "ports": [{"name": "http", "port": 80}, {"name": "alt", "port": 8080}]}

    found = service_variables([{"metadata": {"name": "web"}, "spec": spec}], 10000)

    assert found["WEB_SERVICE_PORT"] == found["WEB_SERVICE_PORT_HTTP"] == found["WEB_PORT_80_TCP_PORT"] == "10080"
    assert found["WEB_PORT"] == found["WEB_PORT_80_TCP"] == "tcp://127.1.128.9:10080"
    assert found["WEB_SERVICE_PORT_ALT"] == found["WEB_PORT_8080_TCP_PORT"] == "8080"


def test_the_api_servers_service_may_be_in_another_namespace():
    def service(name, namespace):
        return {"metadata": {"name": name, "namespace": namespace}, "spec": {"clusterIP": "10.0.0.1"}}

    usual, masters, own = service("kubernetes", "default"), service("kubernetes", "masters"), service("web", "ns")
    known = [usual, masters, service("other", "masters"), own]

    assert services_for("ns", known, links=True) == [usual, own]
    assert services_for("ns", known, links=True, master_namespace="masters") == [masters, own]
    assert services_for("ns", known, links=False, master_namespace="masters") == [masters]


@pytest.mark.parametrize(("address", "wins"), [("10.0.0.9", True), ("None", False), ("", False)])
@pytest.mark.parametrize("own_first", [True, False])
def test_a_namespaces_own_kubernetes_is_named_where_it_has_an_address(address, wins, own_first):
    def kubernetes(namespace, ip):
        return {"metadata": {"name": "kubernetes", "namespace": namespace}, "spec": {"clusterIP": ip}}

    usual, own = kubernetes("default", "10.0.0.1"), kubernetes("ns", address)
    known = [own, usual] if own_first else [usual, own]

    assert services_for("ns", known, links=True) == [own if wins else usual]
    assert services_for("ns", known, links=False) == [usual]
