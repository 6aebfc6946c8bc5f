"""Conversion webhooks: a definition of two versions over a real TLS server."""

import itertools
import threading
from contextlib import contextmanager

import orjson
import pytest
from hyperkube_host.apiserver.custom.conversion import Memory
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest, StreamResponse
from hyperkube_testing.peers.webhook_server import WebhookServer

from hyperkube.client.client import APPLY_PATCH
from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS, ENDPOINTS, SERVICES
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.apiextensions", reason="needs the group of definitions")

LOOPBACK_GATE = "AllowLoopbackEndpoints"
OLD, NEW = (GroupVersionResource("example.com", version, "gauges") for version in ("v1beta1", "v1"))
BASE = "/apis/example.com/{}/namespaces/default/gauges"


def version(name, *, storage=False, **spec):
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": spec}, "status": {"type": "object"}},
    }
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }


def definition(client_config, *, review_versions=("v1",), storage="v1beta1"):
    text, number = {"type": "string"}, {"type": "integer"}
    webhook = {"clientConfig": client_config, "conversionReviewVersions": [*review_versions]}
    conversion = {"strategy": "Webhook", "webhook": webhook} if client_config else {"strategy": "None"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gauges.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "gauges", "kind": "Gauge", "singular": "gauge", "listKind": "GaugeList"},
            "conversion": conversion,
            "versions": [
                version("v1beta1", storage=storage == "v1beta1", range=text),
                version("v1", storage=storage == "v1", low=number, high=number, unit={**text, "default": "m"}),
            ],
        },
    }


def convert(obj, desired):
    spec = dict(obj.get("spec") or {})
    if desired.endswith("/v1") and "range" in spec:
        low, _, high = spec.pop("range").partition("-")
        spec |= {"low": int(low), "high": int(high)}
    elif desired.endswith("/v1beta1") and "low" in spec:
        spec = {"range": f"{spec['low']}-{spec['high']}"}
    return {**obj, "apiVersion": desired, "spec": spec}


def success(review):
    request = review["request"]
    return {
        "result": {"status": "Success"},
        "convertedObjects": [convert(obj, request["desiredAPIVersion"]) for obj in request["objects"]],
    }


class Converter:
    """A webhook whose answer a test may replace."""

    def __init__(self):
        self.respond = success
        self.server = WebhookServer(lambda review: self.respond(review))  # noqa: PLW0108 -- it is replaced

    @property
    def config(self):
        return {"url": self.server.url, "caBundle": self.server.ca_bundle}

    @property
    def asked(self):
        return [review["request"] for review in self.server.reviews]


@contextmanager
def serving(crd, **options):
    plain = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
    server = ApiServer(options={**plain, **options}, store=MemoryStore())
    server.start()
    client = server.client(LOOPBACK)
    client.create(CUSTOM_RESOURCE_DEFINITIONS, crd)
    eventually(lambda: server.registry.find(NEW))
    try:
        yield server, client
    finally:
        server.close()


@pytest.fixture
def converter():
    converter = Converter()
    yield converter
    converter.server.close()


@pytest.fixture
def gauges(converter):
    with serving(definition(converter.config)) as (server, client):
        yield server, client


def gauge(name="g", **spec):
    return {"metadata": {"name": name}, "spec": spec}


def http(server, method, path, body=None, **headers):
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    path, _, query = path.partition("?")
    content = b"" if body is None else orjson.dumps(body)
    request = HttpRequest(method=method, path=path, query_string=query, headers=given, body=content, user=LOOPBACK)
    return server.handler.handle(request)


def test_every_version_shows_what_another_one_wrote(gauges):
    _server, client = gauges
    made = client.create(NEW, gauge(low=1, high=5), "default")

    client.create(OLD, gauge("h", range="2-3"), "default")

    assert made["apiVersion"], made["spec"] == ("example.com/v1", {"low": 1, "high": 5, "unit": "m"})
    assert client.get(OLD, "g", "default")["spec"] == {"range": "1-5"}
    assert [obj["spec"] for obj in client.list(NEW, "default").items] == [
        {"low": 1, "high": 5},
        {"low": 2, "high": 3},
    ]
    assert {obj["apiVersion"] for obj in client.list(NEW, "default").items} == {"example.com/v1"}


def test_what_is_stored_is_the_storage_version(gauges):
    server, client = gauges

    client.create(NEW, gauge(low=1, high=5), "default")

    stored = server.registry.get(OLD).stored().cache.get("default", "g")
    assert orjson.loads(stored.body)["apiVersion"] == "example.com/v1beta1"
    assert orjson.loads(stored.body)["spec"] == {"range": "1-5"}


def test_the_review_says_what_is_asked(gauges, converter):
    _server, client = gauges
    client.create(OLD, gauge(range="1-5"), "default")

    client.get(NEW, "g", "default")

    review = converter.server.reviews[0]
    assert (review["apiVersion"], review["kind"]) == ("apiextensions.k8s.io/v1", "ConversionReview")
    assert review["request"]["desiredAPIVersion"] == "example.com/v1"
    assert [obj["metadata"]["name"] for obj in review["request"]["objects"]] == ["g"]
    assert review["response"] == {"uid": "", "convertedObjects": None, "result": {"metadata": {}}}
    assert len(converter.asked) == 1


def test_one_question_serves_a_list_and_the_reads_after_it(gauges, converter):
    _server, client = gauges
    for name in "abc":
        client.create(OLD, gauge(name, range="1-5"), "default")

    client.list(NEW, "default")
    client.get(NEW, "b", "default")
    client.list(NEW, "default")

    assert [len(asked["objects"]) for asked in converter.asked] == [3]


@pytest.fixture
def selectable(converter):
    """Gauges, of which the stored version is selected by its range and the other one by its high end."""
    crd = definition(converter.config)
    for each, path in zip(crd["spec"]["versions"], (".spec.range", ".spec.high"), strict=True):
        each["selectableFields"] = [{"jsonPath": path}]
    with serving(crd) as (server, client):
        for name, text in (("a", "1-5"), ("b", "1-9"), ("c", "0-5")):
            client.create(OLD, gauge(name, range=text), "default")
        yield server, client


def names(found):
    return [each["metadata"]["name"] for each in found.items]


def test_fields_are_selected_as_the_version_that_is_asked_has_them(selectable, converter):
    server, client = selectable

    assert names(client.list(NEW, field_selector="spec.high=5")) == ["a", "c"]
    assert [len(asked["objects"]) for asked in converter.asked] == [3], "asked once for all"
    assert names(client.list(NEW, field_selector="spec.high!=5")) == ["b"]
    assert names(client.list(NEW, field_selector="spec.high=5,metadata.name=c")) == ["c"]
    assert names(client.list(OLD, field_selector="spec.range=1-9")) == ["b"]
    assert http(server, "GET", BASE.format("v1beta1") + "?fieldSelector=spec.high%3D5").status == 400
    page = orjson.loads(http(server, "GET", BASE.format("v1") + "?fieldSelector=spec.high%3D5&limit=1").body)
    assert [each["metadata"]["name"] for each in page["items"]] == ["a"]
    rest = f"?fieldSelector=spec.high%3D5&limit=1&continue={page['metadata']['continue']}"
    page = orjson.loads(http(server, "GET", BASE.format("v1") + rest).body)
    assert [each["metadata"]["name"] for each in page["items"]] == ["c"]


def drained(answer):
    """Return the events of a watch over HTTP that come next."""
    rung = threading.Event()
    answer.source.subscribe(rung.set)

    def lines():
        rung.wait(0.05)
        rung.clear()
        return b"".join(answer.source.drain() or [])

    return [orjson.loads(line) for line in eventually(lines).splitlines()]


def test_a_watch_follows_what_comes_to_have_the_selected_fields_and_ceases_to(selectable):
    server, client = selectable
    revision = client.list(NEW).resource_version
    over_http = http(
        server, "GET", f"{BASE.format('v1')}?watch=1&fieldSelector=spec.high%3D5&resourceVersion={revision}"
    )
    watch = client.watch(NEW, field_selector="spec.high=5", resource_version=revision)
    for name, text in (("b", "2-8"), ("b", "2-5"), ("a", "3-5"), ("a", "3-6")):
        client.patch(OLD, name, {"spec": {"range": text}}, "default")
    client.delete(OLD, "c", "default")

    seen = list(itertools.islice(watch, 4))
    watch.close()
    assert [(each.type, each.object["metadata"]["name"], each.object["spec"]["low"]) for each in seen] == [
        ("ADDED", "b", 2), ("MODIFIED", "a", 3), ("DELETED", "a", 3), ("DELETED", "c", 0),
    ]  # fmt: skip
    events = drained(over_http)
    over_http.source.close()
    assert [(each["type"], each["object"]) for each in events] == [(each.type, each.object) for each in seen]


def test_a_watch_by_fields_of_what_cannot_be_converted_ends_with_the_reason(selectable, converter):
    server, client = selectable
    over_http = http(server, "GET", BASE.format("v1") + "?watch=1&fieldSelector=spec.high%3D5&resourceVersion=0")
    watch = client.watch(NEW, field_selector="spec.high=5", resource_version="0")
    converter.respond = lambda _: {"result": {"status": "Failure", "message": "no"}}

    client.create(OLD, gauge("d", range="1-5"), "default")

    (event,) = watch
    assert (event.type, event.object["message"]) == ("ERROR", f"{HEAD}failed: no")
    assert drained(over_http)[-1]["object"]["message"] == f"{HEAD}failed: no"
    over_http.source.close()


def test_updates_patches_and_applies_work_through_every_version(gauges):
    _server, client = gauges
    client.create(OLD, gauge(range="1-5"), "default")

    client.patch(NEW, "g", {"spec": {"high": 9}}, "default")
    assert client.get(OLD, "g", "default")["spec"] == {"range": "1-9"}
    new = client.get(NEW, "g", "default")
    client.update(NEW, {**new, "spec": {"low": 0, "high": 2}})
    assert client.get(OLD, "g", "default")["spec"] == {"range": "0-2"}
    applied = {"apiVersion": "example.com/v1", "kind": "Gauge", "metadata": {"name": "g"}, "spec": {"low": 1}}
    client.patch(NEW, "g", applied, "default", patch_type=APPLY_PATCH, field_manager="me", force=True)
    assert client.get(OLD, "g", "default")["spec"] == {"range": "1-2"}
    status = {**client.get(NEW, "g", "default"), "status": {}}
    assert client.update(NEW, status, subresource="status")["status"] == {}

    client.delete(NEW, "g", "default")
    assert client.list(OLD, "default").items == []


def test_a_watch_shows_the_version_that_is_watched(gauges):
    server, client = gauges
    answer = http(server, "GET", BASE.format("v1") + "?watch=1&resourceVersion=0")
    assert isinstance(answer, StreamResponse)
    client.create(OLD, gauge(range="1-5"), "default")

    (event,) = drained(answer)
    answer.source.close()
    assert (event["type"], event["object"]["apiVersion"]) == ("ADDED", "example.com/v1")
    assert event["object"]["spec"] == {"low": 1, "high": 5}


def test_a_watch_of_what_cannot_be_converted_ends_with_the_reason(gauges, converter):
    _server, client = gauges
    watch = client.watch(NEW, "default", resource_version="0")
    converter.respond = lambda _: {"result": {"status": "Failure", "message": "no"}}

    client.create(OLD, gauge(range="1-5"), "default")

    events = list(watch)
    assert [event.type for event in events] == ["ERROR"]
    assert events[0].object["message"] == "conversion webhook for example.com/v1beta1, Kind=Gauge failed: no"


def changed(**change):
    def respond(review):
        answer = success(review)
        for obj in answer["convertedObjects"]:
            for name, value in change.items():
                if name.startswith("meta_"):
                    obj["metadata"] = {**obj["metadata"], name.removeprefix("meta_"): value}
                else:
                    obj[name] = value
        return answer

    return respond


HEAD = "conversion webhook for example.com/v1beta1, Kind=Gauge "


@pytest.mark.parametrize(
    ("respond", "message"),
    [
        (lambda _: b"{", "failed: couldn't get version/kind; json parse error: "),
        (
            lambda _: b"{}",
            "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=",
        ),
        (
            lambda _: b'{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}',
            "failed: no response provided",
        ),
        (lambda review: {**success(review), "uid": "x"}, "failed: expected response.uid="),
        (lambda _: {"result": {"status": "Failure", "message": "sorry"}}, "failed: sorry"),
        (lambda _: {}, "failed: response.result.status was '', not 'Success'"),
        (lambda _: {"result": {"status": "Success"}}, "returned 0 objects, expected 1"),
        (
            changed(apiVersion="example.com/v2"),
            "returned invalid object at index 0: invalid groupVersion (expected example.com/v1, received example.com/v2)",
        ),
        (changed(kind="Other"), "returned invalid object at index 0: invalid kind (expected Gauge, received Other)"),
        (changed(meta_name="x"), "returned invalid object: must have the same name: g != x"),
        (changed(meta_namespace="x"), "returned invalid object: must have the same namespace: default != x"),
        (changed(meta_uid="x"), "returned invalid object: must have the same UID: "),
        (
            changed(meta_labels={"a": 1}),
            "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
        ),
        (
            changed(meta_labels={"a!": "b"}),
            'returned invalid metadata: metadata.labels: Invalid value: "a!": ',
        ),
    ],
    ids=[
        "broken",
        "kind",
        "empty",
        "uid",
        "refused",
        "status",
        "count",
        "version",
        "other kind",
        "name",
        "namespace",
        "uid of the object",
        "label type",
        "label",
    ],
)
def test_an_unusable_answer_fails_the_request(gauges, converter, respond, message):
    server, client = gauges
    client.create(OLD, gauge(range="1-5"), "default")
    converter.respond = respond

    answer = http(server, "GET", BASE.format("v1") + "/g")

    status = orjson.loads(answer.body)
    assert (answer.status, status["code"], status.get("reason", "")) == (500, 500, "")
    assert status["message"].startswith(HEAD + message)


@pytest.mark.parametrize("verb", ["get", "list", "create", "update", "patch", "delete", "deletecollection"])
def test_no_verb_gets_by_without_the_webhook(gauges, converter, verb):
    _server, client = gauges
    old = client.create(OLD, gauge(range="1-5"), "default")
    converter.server.status = 503

    def act():
        match verb:
            case "get":
                client.get(NEW, "g", "default")
            case "list":
                client.list(NEW, "default")
            case "create":
                client.create(NEW, gauge("h", low=1, high=2), "default")
            case "update":
                client.update(NEW, {**old, "apiVersion": "example.com/v1"})
            case "patch":
                client.patch(NEW, "g", {"spec": {"low": 2}}, "default")
            case "delete":
                client.delete(NEW, "g", "default")
            case _:
                client.delete_collection(NEW, "default")

    with pytest.raises(
        ApiError, match=r"^conversion webhook for example\.com/v1.*, Kind=Gauge failed: an error on"
    ) as it:
        act()

    assert it.value.status_code == 500
    assert client.get(OLD, "g", "default") == old


def test_only_labels_and_annotations_are_the_webhooks(gauges, converter):
    _server, client = gauges
    old = client.create(OLD, {**gauge(range="1-5"), "metadata": {"name": "g", "labels": {"a": "b"}}}, "default")
    converter.respond = changed(
        meta_labels={"c": "d"}, meta_annotations={"e": "f"}, meta_generation=7, meta_finalizers=["x/y"]
    )

    new = client.get(NEW, "g", "default")

    before, after = old["metadata"], new["metadata"]
    assert (after.pop("labels"), after.pop("annotations")) == ({"c": "d"}, {"e": "f"})
    assert after == {name: value for name, value in before.items() if name != "labels"}


def test_an_older_review_is_spoken_and_not_checked_as_closely(converter):
    converter.respond = lambda review: {**success(review), "uid": ""}
    with serving(definition(converter.config, review_versions=["v2", "v1beta1", "v1"])) as (_server, client):
        client.create(OLD, gauge(range="1-5"), "default")

        assert client.get(NEW, "g", "default")["spec"]["low"] == 1

    assert converter.server.reviews[0]["apiVersion"] == "apiextensions.k8s.io/v1beta1"


def test_the_webhook_may_be_a_service():
    with WebhookServer(success, dns=("converter.default.svc",)) as webhook:
        where = {"namespace": "default", "name": "converter", "path": "/convert"}
        config = {"service": where, "caBundle": webhook.ca_bundle}
        with serving(definition(config), **{"feature-gates": {LOOPBACK_GATE: True}}) as (_server, client):
            client.create(OLD, gauge(range="1-5"), "default")
            with pytest.raises(ApiError) as caught:
                client.get(NEW, "g", "default")
            ports = {"ports": [{"port": 443}], "clusterIP": "None"}
            client.create(SERVICES, {"metadata": {"name": "converter"}, "spec": ports}, "default")
            subset = {"addresses": [{"ip": "127.0.0.1"}], "ports": [{"port": webhook.port}]}
            client.create(ENDPOINTS, {"metadata": {"name": "converter"}, "subsets": [subset]}, "default")

            found = client.get(NEW, "g", "default")

    nowhere = 'failed: Post "https://converter.default.svc:443/convert?timeout=30s": service "converter" not found'
    assert str(caught.value) == HEAD + nowhere
    assert found["spec"]["low"] == 1


def test_a_new_storage_version_takes_over_with_the_next_write(gauges, converter):
    server, client = gauges
    client.create(OLD, gauge(range="1-5"), "default")
    crd = client.get(CUSTOM_RESOURCE_DEFINITIONS, "gauges.example.com")
    spec = definition(converter.config, storage="v1")["spec"]
    crd = client.update(CUSTOM_RESOURCE_DEFINITIONS, {**crd, "spec": spec})
    eventually(lambda: server.registry.get(NEW).is_stored and server.registry.get(NEW).spec.to_storage is None)

    assert client.get(NEW, "g", "default")["spec"] == {"low": 1, "high": 5}
    client.update(NEW, client.get(NEW, "g", "default"))

    stored = orjson.loads(server.registry.get(NEW).stored().cache.get("default", "g").body)
    assert crd["status"]["storedVersions"] == ["v1beta1", "v1"]
    assert (stored["apiVersion"], stored["spec"]) == ("example.com/v1", {"low": 1, "high": 5, "unit": "m"})
    assert client.get(OLD, "g", "default")["spec"] == {"range": "1-5"}


def test_the_strategy_none_changes_nothing_but_the_name(converter):
    with serving(definition(None)) as (_server, client):
        client.create(OLD, gauge(range="1-5"), "default")

        new = client.get(NEW, "g", "default")
        client.delete(CUSTOM_RESOURCE_DEFINITIONS, "gauges.example.com")

    assert (new["apiVersion"], new["spec"]) == ("example.com/v1", {})
    assert converter.asked == []


def test_tables_and_partial_objects_are_of_the_version_that_is_asked_for(gauges):
    server, client = gauges
    client.create(OLD, gauge(range="1-5"), "default")

    shown = orjson.loads(
        http(
            server,
            "GET",
            BASE.format("v1") + "?includeObject=Object",
            accept="application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        ).body
    )

    assert shown["kind"] == "Table"
    assert shown["rows"][0]["object"]["spec"] == {"low": 1, "high": 5}


def test_a_memory_forgets_what_was_used_least():
    memory = Memory(limit=60)
    first, second, third = ({"metadata": {"uid": uid, "resourceVersion": "1"}} for uid in "abc")
    memory.put(first, {"value": "x" * 10})
    memory.put(second, {"value": "y" * 10})
    memory.get(first)

    memory.put(third, {"value": "z" * 10})

    assert memory.get(first) == {"value": "x" * 10}
    assert memory.get(second) is None


def test_a_definition_with_a_webhook_that_cannot_be_is_refused(converter):
    url = {**converter.config, "url": "http://user@127.0.0.1/x?y#z"}
    with (
        pytest.raises(ApiError, match=r"spec\.conversion\.webhookClientConfig\.url: Invalid value"),
        serving(definition(url)),
    ):
        raise AssertionError("it was accepted")
