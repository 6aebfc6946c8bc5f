"""New objects of plain kinds are stored as they were when each was walked after admission."""

import json

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.machinery.users import UserInfo

pytest.importorskip("hyperkube_api.core", reason="creates ConfigMaps")

CORE = "/api/v1/namespaces/default"
ADMIN = UserInfo("admin", "", ("system:masters",))


@pytest.fixture(scope="module")
def server():
    server = ApiServer(options={"storage-backend": "memory", "admission-control": ["AlwaysAdmit"]})
    server.start()
    yield server
    server.close()


def served(server, resource):
    return next(one for one in server.registry.resources() if one.spec.resource.resource == resource)


@pytest.mark.parametrize(
    ("resource", "plain"),
    [("configmaps", True), ("events", True), ("pods", False), ("services", False), ("nodes", False)],
)
def test_kinds_to_which_nothing_is_added_are_plain(server, resource, plain):
    assert served(server, resource).is_plain is plain


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param(f"{CORE}/configmaps", {"data": {"b": "1", "a": "2"}, "metadata": {"name": "one"}}, id="no kind"),
        pytest.param(
            f"{CORE}/configmaps",
            {
                "immutable": False,
                "binaryData": {},
                "data": None,
                "metadata": {"labels": {"z": "1", "a": "2"}, "name": "two", "annotations": {}, "finalizers": ["x/y"]},
                "apiVersion": "v1",
                "kind": "ConfigMap",
            },
            id="another order and what is empty",
        ),
    ],
)
def test_a_new_object_is_stored_in_its_canonical_form(server, path, body):
    headers = {"content-type": "application/json", "accept": "application/json"}
    asked = HttpRequest(method="POST", path=path, headers=headers, body=json.dumps(body).encode(), user=ADMIN)
    answer = server.handler.answer(asked)
    assert answer.status == 201, answer.body

    obj = json.loads(answer.body)
    del obj["metadata"]["resourceVersion"]  # which the answer has at another place
    canonical = served(server, path.rpartition("/")[2]).canonical(json.loads(json.dumps(obj)))
    assert json.dumps(obj) == json.dumps(canonical)
