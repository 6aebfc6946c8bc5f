"""What a user may write is remembered until the roles change: a binding that is taken away acts with the next write."""

import json
from itertools import count

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_authz.rbac", reason="writes as a user who is bound to a role")

RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
GROUP = "rbac.authorization.k8s.io"
ROLE = {
    "metadata": {"name": "writer"},
    "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}],
}
BINDING = {
    "metadata": {"name": "writers"},
    "roleRef": {"apiGroup": GROUP, "kind": "Role", "name": "writer"},
    "subjects": [{"apiGroup": GROUP, "kind": "User", "name": "alice"}],
}
_numbers = count()


@pytest.fixture
def server(tmp_path):
    (tmp_path / "tokens.csv").write_text("root,admin,1,system:masters\nopen,alice,2\n")
    options = {
        "storage-backend": "memory",
        "authorization-mode": ["RBAC"],
        "token-auth-file": str(tmp_path / "tokens.csv"),
    }
    server = ApiServer(options=options)
    server.start()
    eventually(server.ready, why="roles are not read yet")
    yield server
    server.close()


def send(server, token, method, path, body=None):
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json", "host": "server"}
    content = json.dumps(body).encode() if body is not None else b""
    return server.handler.handle(HttpRequest(method=method, path=path, headers=headers, body=content)).status


def write(server):
    made = {"metadata": {"name": f"c{next(_numbers)}"}}
    return send(server, "open", "POST", "/api/v1/namespaces/default/configmaps", made)


def test_a_binding_acts_while_it_is_there(server):
    assert write(server) == 403

    for path, made in (("roles", ROLE), ("rolebindings", BINDING)):
        assert send(server, "root", "POST", f"{RBAC}/{path}", made) == 201
    eventually(lambda: write(server) == 201, why="the informers of roles have not seen the binding")
    assert [write(server) for _ in range(3)] == [201] * 3
    assert send(server, "root", "DELETE", f"{RBAC}/rolebindings/writers") == 200

    eventually(lambda: write(server) == 403, why="the informers of roles have not seen that it is gone")
    assert [write(server) for _ in range(3)] == [403] * 3
