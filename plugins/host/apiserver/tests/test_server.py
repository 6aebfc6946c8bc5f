"""The whole server over a memory store, through the in-process client and the handler."""

import orjson
import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest, Response, StreamResponse

from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES, PERSISTENT_VOLUME_CLAIMS, SECRETS, SERVICES
from hyperkube.machinery.errors import AlreadyExists, BadRequest, Conflict, Invalid, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

BASE = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def client(server):
    client = server.client(LOOPBACK)
    yield client
    client.delete_collection(CONFIG_MAPS, "default")


def http(server, method, path, body=None, query="", **headers):
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    content = b"" if body is None else orjson.dumps(body)
    request = HttpRequest(method=method, path=path, query_string=query, headers=given, body=content, user=LOOPBACK)
    return server.handler.handle(request)


def config_map(name="a", **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def test_the_system_namespaces_are_there(client):
    names = [obj["metadata"]["name"] for obj in client.list(NAMESPACES).items]

    assert names == ["default", "kube-node-lease", "kube-public", "kube-system"]


def test_what_was_created_is_read_and_listed(client):
    made = client.create(CONFIG_MAPS, config_map(x="1"), "default")

    assert client.get(CONFIG_MAPS, "a", "default") == made
    assert [obj["metadata"]["uid"] for obj in client.list(CONFIG_MAPS, "default").items] == [made["metadata"]["uid"]]


def test_a_name_is_taken_once(client):
    client.create(CONFIG_MAPS, config_map(), "default")

    with pytest.raises(AlreadyExists, match='configmaps "a" already exists'):
        client.create(CONFIG_MAPS, config_map(), "default")


def test_a_generated_name_starts_with_its_base(client):
    made = client.create(CONFIG_MAPS, {"metadata": {"generateName": "x-"}}, "default")

    assert made["metadata"]["name"].startswith("x-")
    assert len(made["metadata"]["name"]) == len("x-") + 5


def test_a_stale_update_conflicts(client):
    old = client.create(CONFIG_MAPS, config_map(x="1"), "default")
    client.update(CONFIG_MAPS, {**old, "data": {"x": "2"}})

    with pytest.raises(Conflict, match="the object has been modified"):
        client.update(CONFIG_MAPS, {**old, "data": {"x": "3"}})


def test_an_update_that_changes_nothing_keeps_the_version(client):
    old = client.create(CONFIG_MAPS, config_map(x="1"), "default")

    assert client.update(CONFIG_MAPS, old) == old


def test_the_first_update_of_a_claim_is_stored_even_if_it_changes_nothing(client):
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "unchanged"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    made = client.create(PERSISTENT_VOLUME_CLAIMS, claim, "default")

    first = client.update(PERSISTENT_VOLUME_CLAIMS, made)
    second = client.update(PERSISTENT_VOLUME_CLAIMS, first)

    versions = [obj["metadata"]["resourceVersion"] for obj in (made, first, second)]
    assert versions[0] != versions[1] == versions[2]


def test_a_dry_run_stores_nothing(client):
    client.create(CONFIG_MAPS, config_map(), "default", dry_run=True)

    with pytest.raises(NotFound):
        client.get(CONFIG_MAPS, "a", "default")


def test_a_finalizer_keeps_what_is_deleted(client):
    obj = config_map()
    obj["metadata"]["finalizers"] = ["example.com/x"]
    client.create(CONFIG_MAPS, obj, "default")

    left = client.delete(CONFIG_MAPS, "a", "default")
    client.patch(CONFIG_MAPS, "a", {"metadata": {"finalizers": None}}, "default")

    assert left["metadata"]["deletionTimestamp"]
    with pytest.raises(NotFound):
        client.get(CONFIG_MAPS, "a", "default")


def test_a_watch_tells_what_happens(client):
    version = client.list(CONFIG_MAPS, "default").resource_version
    watch = client.watch(CONFIG_MAPS, "default", resource_version=version)
    events = iter(watch)

    client.create(CONFIG_MAPS, config_map(), "default")
    client.patch(CONFIG_MAPS, "a", {"data": {"x": "1"}}, "default")
    client.delete(CONFIG_MAPS, "a", "default")

    assert [next(events).type for _ in range(3)] == ["ADDED", "MODIFIED", "DELETED"]
    watch.close()
    assert list(events) == []


def test_pages_join_to_the_whole_list(client):
    for name in "abcde":
        client.create(CONFIG_MAPS, config_map(name), "default")

    first = client.list(CONFIG_MAPS, "default", limit=2)
    client.create(CONFIG_MAPS, config_map("bb"), "default")
    second = client.list(CONFIG_MAPS, "default", limit=9, continue_token=first.continue_token)

    assert first.remaining == 3
    assert [obj["metadata"]["name"] for obj in first.items + second.items] == list("abcde")
    assert second.resource_version == first.resource_version


def test_a_selector_that_the_resource_does_not_have_is_refused(client):
    with pytest.raises(BadRequest, match='"bogus" is not a known field selector'):
        client.list(CONFIG_MAPS, "default", field_selector="bogus=1")


def test_an_apply_creates_and_owns(client):
    applied = client.patch(
        CONFIG_MAPS,
        "a",
        config_map(x="1"),
        "default",
        patch_type="application/apply-patch+yaml",
        field_manager="m",
    )

    assert applied["metadata"]["managedFields"][0]["manager"] == "m"
    with pytest.raises(Conflict, match='conflict with "m"'):
        client.patch(
            CONFIG_MAPS,
            "a",
            config_map(x="2"),
            "default",
            patch_type="application/apply-patch+yaml",
            field_manager="other",
        )


def test_a_name_that_is_none_is_invalid(client):
    with pytest.raises(Invalid, match=r'ConfigMap "A_B" is invalid: metadata\.name'):
        client.create(CONFIG_MAPS, config_map("A_B"), "default")


def test_unknown_fields_are_warned_of(server):
    answer = http(server, "POST", BASE, {**config_map("w"), "nope": 1})

    assert ("Warning", '299 - "unknown field \\"nope\\""') in answer.headers


def test_unknown_fields_are_refused_strictly(server):
    answer = http(server, "POST", BASE, {**config_map("w"), "nope": 1}, "fieldValidation=Strict")

    assert answer.status == 400
    assert b'strict decoding error: unknown field \\"nope\\"' in answer.body


def test_a_list_is_shown_as_a_table(server, client):
    client.create(CONFIG_MAPS, config_map(x="1"), "default")

    answer = http(server, "GET", BASE, accept="application/json;as=Table;v=v1;g=meta.k8s.io")

    table = orjson.loads(answer.body)
    assert table["kind"] == "Table"
    assert table["rows"][0]["cells"][0] == "a"


def test_a_missing_resource_is_a_status_and_a_missing_path_is_text(server):
    assert orjson.loads(http(server, "GET", "/api/v1/nope").body)["details"] == {}
    assert http(server, "GET", "/nope").body == b"404 page not found\n"


def test_a_method_that_does_not_fit_is_not_allowed(server):
    assert http(server, "PUT", BASE, config_map()).status == 405


def test_a_watch_over_http_is_a_growing_body(server, client):
    answer = http(server, "GET", BASE, query="watch=1&timeoutSeconds=30")
    assert isinstance(answer, StreamResponse)
    rung = []
    answer.source.subscribe(lambda: rung.append(1))

    client.create(CONFIG_MAPS, config_map(x="1"), "default")
    frames = b"".join(answer.source.drain())
    answer.source.close()

    assert rung
    assert orjson.loads(frames)["type"] == "ADDED"


def test_health_lists_its_checks(server):
    answer = http(server, "GET", "/readyz", query="verbose=1")

    assert answer.body.startswith(b"[+]ping ok\n")


def test_the_index_lists_all_that_is_served_and_no_debugging(server):
    paths = orjson.loads(http(server, "GET", "/").body)["paths"]

    assert paths == sorted(set(paths))
    assert {"/healthz", "/livez/etcd", "/metrics/slis", "/openapi/v3/", "/statusz", "/version"} < set(paths)
    assert "/readyz/poststarthook/rbac/bootstrap-roles" in paths
    assert not [path for path in paths if path.startswith(("/debug", "/configz", "/logs"))]
    answers = {path: http(server, "GET", path).status for path in paths if path.startswith(("/healthz", "/livez"))}
    assert set(answers.values()) == {200}


def test_discovery_answers_304_to_who_knows_it(server):
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    first = http(server, "GET", "/apis", accept=accept)
    etag = dict(first.headers)["ETag"]

    again = http(server, "GET", "/apis", accept=accept, if_none_match=etag)

    assert (first.status, again.status) == (200, 304)


def test_a_bug_is_an_internal_error_and_is_logged(server, client, monkeypatch, caplog):
    def broken(*_args, **_kwargs):
        raise ZeroDivisionError("boom")

    monkeypatch.setattr(server.registry.get(SECRETS).strategy, "prepare_create", broken)

    answer = http(server, "POST", "/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}})

    assert isinstance(answer, Response)
    assert answer.status == 500
    assert "ZeroDivisionError" in caplog.text


CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "toys.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "toys", "kind": "Toy", "singular": "toy", "listKind": "ToyList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {"size": {"type": "integer", "default": 3, "minimum": 1}},
                            }
                        },
                    }
                },
            }
        ],
    },
}
CRDS = GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
TOYS = GroupVersionResource("example.com", "v1", "toys")


def test_a_definition_is_served_and_cleaned_up(server, client):
    pytest.importorskip("hyperkube_api.apiextensions")
    client.create(CRDS, CRD)
    eventually(lambda: server.registry.find(TOYS))

    toy = client.create(TOYS, {"metadata": {"name": "t"}, "spec": {"colour": "red"}}, "default")
    with pytest.raises(Invalid, match=r"spec\.size in body should be greater than or equal to 1"):
        client.create(TOYS, {"metadata": {"name": "u"}, "spec": {"size": 0}}, "default")
    client.delete(CRDS, "toys.example.com")

    assert toy["spec"] == {"size": 3}
    eventually(lambda: server.registry.find(TOYS) is None)
    with pytest.raises(NotFound):
        client.get(CRDS, "toys.example.com")


def test_whoever_creates_what_nothing_acts_on_is_warned():
    options = {"authorization-mode": ["AlwaysAllow"], "admission-control": ["AlwaysAdmit"],
               "unattended-resources": ["configmaps"]}  # fmt: skip
    server = ApiServer(options=options, store=MemoryStore())
    server.start()

    answer = http(server, "POST", BASE, config_map())

    server.close()
    assert answer.status == 201
    warning = dict(answer.headers)["Warning"]
    assert warning == '299 - "no controller for configmaps is installed: nothing will act on this object"'


@pytest.fixture
def other():
    """Start further servers with options of their own."""
    servers = []

    def start(**options):
        given = {name.replace("_", "-"): value for name, value in options.items()}
        servers.append(ApiServer(options={"authorization-mode": ["AlwaysAllow"], **given}, store=MemoryStore()))
        servers[-1].start()
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def test_the_kubernetes_service_has_the_node_port_it_is_given(other):
    service = other(kubernetes_service_node_port=30123).client(LOOPBACK).get(SERVICES, "kubernetes", "default")

    assert service["spec"]["type"] == "NodePort"
    assert [port["nodePort"] for port in service["spec"]["ports"]] == [30123]


@pytest.mark.parametrize(("kind", "warned"), [("LoadBalancer", True), ("NodePort", False), ("ClusterIP", False)])
def test_a_service_type_that_nothing_acts_on_is_warned_of(other, kind, warned):
    server = other(unattended_resources=["services/LoadBalancer"])
    spec = {"type": kind, "ports": [{"port": 80}]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": spec}

    answer = http(server, "POST", "/api/v1/namespaces/default/services", service)

    text = "nothing in this cluster gives a Service of type LoadBalancer its external address: use its node port"
    assert answer.status == 201
    assert dict(answer.headers).get("Warning") == (f'299 - "{text}"' if warned else None)


def test_the_kubernetes_service_has_the_port_of_the_latest_start():
    store = MemoryStore()
    found = []
    for port in (443, 6443, 6443):
        server = ApiServer(
            options={"authorization-mode": ["AlwaysAllow"], "kubernetes-service-port": port, "secure-port": 7443},
            store=store,
        )
        server.start()
        eventually(
            lambda server=server, port=port: (
                server.client(LOOPBACK).get(SERVICES, "kubernetes", "default")["spec"]["ports"][0]["port"] == port
            )
        )
        service = server.client(LOOPBACK).get(SERVICES, "kubernetes", "default")
        found.append((service["spec"]["ports"], service["metadata"]["resourceVersion"]))
        server.close()

    told = [[{"name": "https", "protocol": "TCP", "port": port, "targetPort": 7443}] for port in (443, 6443, 6443)]
    assert [ports for ports, _ in found] == told
    assert found[1][1] == found[2][1], "a start that changes nothing writes nothing"


def test_the_external_name_is_told_to_clients(other):
    server = other(external_hostname="api.example.org", advertise_address="10.1.2.3", secure_port=7443)

    versions = orjson.loads(http(server, "GET", "/api").body)
    openid = orjson.loads(http(server, "GET", "/.well-known/openid-configuration").body)

    assert versions["serverAddressByClientCIDRs"][0]["serverAddress"] == "api.example.org:7443"
    assert openid["jwks_uri"] == "https://api.example.org:7443/openid/v1/jwks"


def test_without_the_garbage_collector_no_deletion_waits_for_it(other):
    client = other(enable_garbage_collector=False).client(LOOPBACK)
    client.create(CONFIG_MAPS, config_map(), "default")

    client.delete(CONFIG_MAPS, "a", "default", options={"propagationPolicy": "Foreground"})

    with pytest.raises(NotFound):
        client.get(CONFIG_MAPS, "a", "default")


def test_paths_of_the_given_expression_run_long(other):
    handler = other(**{"long-running-request-regexp": "/slow$"}).handler

    assert handler.is_long_running(HttpRequest(method="GET", path="/api/v1/slow"))
    assert not handler.is_long_running(HttpRequest(method="GET", path="/api/v1/pods"))


def test_a_timeout_that_is_no_duration_is_a_bad_request(server):
    answer = http(server, "GET", BASE, query="timeout=soon")

    assert answer.status == 400
    message = orjson.loads(answer.body)["message"]
    assert message == 'invalid timeout specified in the request URL - time: invalid duration "soon"'
