"""What mutates an object cannot make another object of it: place, name and uid stay what the request says."""

import json
from base64 import b64encode

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_testing.peers.webhook_server import WebhookServer

from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

MAPS, SPACES = "/api/v1/namespaces/a/configmaps", "/api/v1/namespaces"
ELSEWHERE = "the namespace of the provided object does not match the namespace sent on the request"


class World:
    """A server with one mutating webhook, whose patch the tests set."""

    def __init__(self):
        self.patch = []
        self.hook = WebhookServer(self.respond)
        options = {"admission-control": ["MutatingAdmissionWebhook"], "authorization-mode": ["AlwaysAllow"]}
        self.server = ApiServer(options=options, store=MemoryStore())
        self.server.start()
        self.make(SPACES, "a")
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps", "namespaces"],
                "operations": ["CREATE", "UPDATE"], "scope": "*"}  # fmt: skip
        hook = {
            "name": "evil.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules": [rule],
            "clientConfig": {"url": self.hook.url, "caBundle": self.hook.ca_bundle},
        }  # fmt: skip
        path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
        assert self.ask("POST", path, {"metadata": {"name": "evil"}, "webhooks": [hook]})[0] == 201
        self.make(MAPS, "old")
        eventually(
            self.is_asked, why="the server watches configurations, and writes without the webhook until it sees it"
        )

    def respond(self, review):
        if not self.patch:
            return {"allowed": True}
        patch = b64encode(json.dumps(self.patch).encode()).decode()
        return {"allowed": True, "patchType": "JSONPatch", "patch": patch}

    def is_asked(self):
        change = ("/data", {"seen": "yes"})
        return "data" in self.mutated("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "probe"}}, change)[1]

    def make(self, path, name):
        assert self.ask("POST", path, {"metadata": {"name": name}})[0] == 201

    def ask(self, method, path, body=None, kind="application/json"):
        text = b"" if body is None else json.dumps(body).encode()
        path, _, query = path.partition("?")
        headers = {"content-type": kind}
        request = HttpRequest(
            method=method, path=path, query_string=query, body=text, headers=headers, user=LOOPBACK
        )  # fmt: skip
        answer = self.server.handler.handle(request)
        return answer.status, json.loads(answer.body)

    def mutated(self, method, path, body, *patch, kind="application/json"):
        self.patch = [{"op": "add", "path": where, "value": value} for where, value in patch]
        try:
            return self.ask(method, path, body, kind)
        finally:
            self.patch = []

    def close(self):
        self.server.close()
        self.hook.close()


@pytest.fixture(scope="module")
def world():
    world = World()
    yield world
    world.close()


@pytest.fixture(params=["create", "update", "patch"])
def written(world, request):
    def write(*patch):
        if request.param == "create":
            return world.mutated("POST", MAPS, {"metadata": {"generateName": "new-"}}, *patch)
        if request.param == "update":
            return world.mutated("PUT", f"{MAPS}/old", {"metadata": {"name": "old"}}, *patch)
        return world.mutated("PATCH", f"{MAPS}/old", {"data": {"x": "1"}}, *patch, kind="application/merge-patch+json")

    write.creates = request.param == "create"
    return write


@pytest.mark.parametrize("namespace", ["kube-system", "none", "A/../b"])
def test_the_namespace_stays(written, namespace):
    status, answer = written(("/metadata/namespace", namespace))

    assert (status, answer["message"]) == (400, ELSEWHERE)


def test_an_emptied_namespace_is_filled_in(written):
    assert written(("/metadata/namespace", ""))[1]["metadata"]["namespace"] == "a"


def test_an_object_without_a_namespace_gets_none(world):
    status, answer = world.mutated("POST", SPACES, {"metadata": {"name": "n"}}, ("/metadata/namespace", "a"))

    assert (status, "namespace" in answer["metadata"]) == (201, False)


def test_the_uid_stays(written, world):
    before = world.ask("GET", f"{MAPS}/old")[1]["metadata"]["uid"]
    status, answer = written(("/metadata/uid", "mine"))

    if written.creates:
        assert (status, answer["metadata"]["uid"] == "mine") == (201, False)
    else:
        assert status == 422, answer
        assert "metadata.uid: Invalid value" in answer["message"]
    assert world.ask("GET", f"{MAPS}/old")[1]["metadata"]["uid"] == before


def test_the_name_of_what_is_there_stays(written):
    status, answer = written(("/metadata/name", "another"))

    if written.creates:
        assert (status, answer["metadata"]["name"]) == (201, "another")
    else:
        assert (status, "metadata.name: Invalid value" in answer["message"]) == (422, True)


@pytest.mark.parametrize("name", ["../../secrets/a/x", "a/b", ".", "..", "A"])
def test_the_name_of_what_is_new_is_still_checked(world, name):
    assert world.mutated("POST", MAPS, {"metadata": {"generateName": "n-"}}, ("/metadata/name", name))[0] == 422


def test_what_the_server_keeps_stays(written, world):
    created = world.ask("GET", f"{MAPS}/old")[1]["metadata"]["creationTimestamp"]
    status, answer = written(
        ("/metadata/deletionTimestamp", "2001-01-01T00:00:00Z"), ("/metadata/deletionGracePeriodSeconds", 0)
    )

    assert status in {200, 201, 422}
    assert "deletionTimestamp" not in answer.get("metadata", {})
    assert world.ask("GET", f"{MAPS}/old")[1]["metadata"]["creationTimestamp"] == created


@pytest.mark.parametrize(
    "patch",
    [("/kind", "Secret"), ("/apiVersion", "v2"), ("/metadata", []), ("", [])],
    ids=["kind", "version", "list", "whole"],
)
def test_it_stays_an_object_of_its_kind(written, patch, caplog):
    status, answer = written(patch)

    assert (status, answer["reason"]) == (500, "InternalError")
    assert not [record for record in caplog.records if record.exc_info], "a mutation is no fault of ours"
