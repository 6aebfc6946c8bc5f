"""What a write imports when the first of its kind comes, no later one imports again."""

import builtins

import orjson
import pytest
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.machinery.users import LOOPBACK

pytest.importorskip("hyperkube_api.apps", reason="needs Deployments")

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
LABELS = {"app": "web"}
SPEC = {
    "replicas": 1,
    "selector": {"matchLabels": LABELS},
    "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
}
APPLY = "application/apply-patch+yaml"


def deployment(name, **spec):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {**SPEC, **spec}}


def scale(replicas):
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"replicas": replicas},
    }


REQUESTS = {
    "an apply that creates": ("PATCH", "{new}", APPLY, lambda number: deployment(f"n{number}")),
    "an apply that changes": ("PATCH", "a", APPLY, lambda number: deployment("a", paused=bool(number))),
    "a JSON patch": (
        "PATCH",
        "a",
        "application/json-patch+json",
        lambda number: [{"op": "add", "path": "/metadata/labels", "value": {"x": f"{number}"}}],
    ),
    "a merge patch": ("PATCH", "a", "application/merge-patch+json", lambda number: {"spec": {"paused": bool(number)}}),
    "a strategic patch": (
        "PATCH",
        "a",
        "application/strategic-merge-patch+json",
        lambda number: {"spec": {"paused": bool(number)}},
    ),
    "an update of the scale": ("PUT", "a/scale", "application/json", lambda number: scale(number + 2)),
    "a patch of the scale": (
        "PATCH",
        "a/scale",
        "application/merge-patch+json",
        lambda number: {"spec": {"replicas": number + 2}},
    ),
    "an apply of the scale": ("PATCH", "a/scale", APPLY, lambda number: scale(number + 2)),
    "a deletion of all": ("DELETE", "", "application/json", lambda _number: None),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_only_the_first_request_imports(server, monkeypatch, name):
    method, path, media, body = REQUESTS[name]
    importing, plain = [], builtins.__import__

    def ask(method, path, media, content, query=""):
        return server.handler.handle(
            HttpRequest(
                method=method,
                path=f"{DEPLOYMENTS}/{path}".rstrip("/"),
                query_string=query,
                headers={"content-type": media},
                body=orjson.dumps(content) if content is not None else b"",
                user=LOOPBACK,
            )
        )

    def counted(imported, namespace=None, *others):
        importer = (namespace or {}).get("__name__", "")
        if importer.startswith("hyperkube") and imported.startswith("hyperkube"):
            importing.append((importer, imported))
        return plain(imported, namespace, *others)

    ask("POST", "", "application/json", deployment("a"))
    query = "fieldManager=m&force=true" if media == APPLY else ""

    answers = []
    for number in range(2):
        importing.clear()
        with monkeypatch.context() as patched:
            patched.setattr(builtins, "__import__", counted)
            answers.append(ask(method, path.format(new=f"n{number}"), media, body(number), query).status)

    assert set(answers) <= {200, 201}
    assert importing == []
