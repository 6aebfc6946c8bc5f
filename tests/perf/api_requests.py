"""The requests that the API server is measured with: what clients ask for, by the headers that they send.

Each row has, where it was measured, the rate of kube-apiserver 1.36.2 (etcd on the same disk) as a share of bare uvicorn's
in the same minutes: rates alone say more about the hour than about the server.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from hyperkube_lib.protobuf import Protobuf
from servers_under_load import Ask, Served  # type: ignore[import-not-found]  # beside this file, not a package

from hyperkube.machinery.schema import compile_schema

PODS = 1000
ROOT = "/api/v1/namespaces/default"
JSON, PROTOBUF, MERGE_PATCH = "application/json", "application/vnd.kubernetes.protobuf", "application/merge-patch+json"
ANY_JSON, ANY_PROTOBUF = f"{JSON}, */*", f"{PROTOBUF}, */*"
TABLE = f"{JSON};as=Table;v=v1;g=meta.k8s.io,{JSON};as=Table;v=v1beta1;g=meta.k8s.io,{JSON}"
PARTIAL = f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{JSON}"
OWN, ONE = "@" * 16, "###"
"""Become a number of each request's own, and one of a hundred; see ``load.lua``."""

POD: dict[str, Any] = {
    "metadata": {"labels": {"app": "bench", "tier": "backend"}, "annotations": {"example.org/owner": "team-a"}},
    "spec": {
        "automountServiceAccountToken": False,
        "containers": [
            {
                "name": "app",
                "image": "registry.example/app:1.2.3",
                "args": ["--listen=:8080", "--log-level=info"],
                "ports": [{"name": "http", "containerPort": 8080}],
                "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                "resources": {
                    "requests": {"cpu": "100m", "memory": "128Mi"},
                    "limits": {"cpu": "500m", "memory": "256Mi"},
                },
                "readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10},
                "volumeMounts": [{"name": "cfg", "mountPath": "/etc/app"}],
            }
        ],
        "volumes": [{"name": "cfg", "configMap": {"name": "app-config"}}],
    },
}


def pod(name: str) -> dict[str, Any]:
    """Return a pod such as workloads have them."""
    return {**POD, "metadata": {**POD["metadata"], "name": name}}


CONFIG_MAP = {"metadata": {"name": f"w{OWN}", "labels": {"app": "wrk"}}, "data": {"payload": "x" * 1024}}
STATUS = {
    "metadata": {"name": f"seed-{ONE}"},
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "message": f"w{OWN}"}]},
}


def message(kind: str, obj: dict[str, Any]) -> bytes:
    """Return an object of the core group as protobuf."""
    schema = compile_schema(f"hyperkube_api.core.v1:{kind}")
    return Protobuf().encode(
        {**schema.decode(json.loads(json.dumps(obj)))[0], "kind": kind, "apiVersion": "v1"}, schema
    )


class Aim(NamedTuple):
    """What a row must reach: of bare uvicorn's rate, or against another `row`, by `rate` (at least) or `cpu` (at most)."""

    must: float
    wish: float
    row: str = ""
    figure: str = "rate"

    def holds(self, measured: float) -> bool:
        """Tell whether it is reached."""
        return measured <= self.must if self.figure == "cpu" else measured >= self.must


class Row(NamedTuple):
    """One row: its name, the request, kube-apiserver's share of bare uvicorn (None: not measured), and its aim."""

    name: str
    ask: Ask
    theirs: float | None = None
    aim: Aim | None = None


def _both(name: str, path: str, method: str, kind: str, obj: dict[str, Any], theirs: float, aim: Aim) -> list[Row]:
    """Return the rows of a write with JSON and with protobuf, in body and answer."""
    body = json.dumps(obj).encode()
    binary = Ask(path, method, message(kind, obj), PROTOBUF, ANY_PROTOBUF)
    as_fast = Aim(0.9, 1.0, name)
    return [Row(name, Ask(path, method, body), theirs, aim), Row(f"{name}, protobuf", binary, aim=as_fast)]


ROWS = [
    Row("GET pod", Ask(f"{ROOT}/pods/seed-000"), 0.21, Aim(1.0, 1.2)),
    Row("GET pod, json and any", Ask(f"{ROOT}/pods/seed-000", accept=ANY_JSON), aim=Aim(0.9, 1.1)),
    Row("GET pod, protobuf", Ask(f"{ROOT}/pods/seed-000", accept=ANY_PROTOBUF), aim=Aim(0.6, 0.8)),
    Row("GET pod, table", Ask(f"{ROOT}/pods/seed-000", accept=TABLE), aim=Aim(0.2, 0.4)),
    Row("LIST pods", Ask(f"{ROOT}/pods")),
    Row(
        "LIST pods, protobuf",
        Ask(f"{ROOT}/pods?resourceVersion=0", accept=ANY_PROTOBUF),
        aim=Aim(1.5, 1.0, "LIST pods", "cpu"),
    ),
    Row("LIST pods, table", Ask(f"{ROOT}/pods", accept=TABLE), aim=Aim(4.0, 2.0, "LIST pods", "cpu")),
    Row("LIST pods, limit=500", Ask(f"{ROOT}/pods?limit=500")),
    Row("LIST pods, table, limit=500", Ask(f"{ROOT}/pods?limit=500", accept=TABLE)),
    Row("LIST pods, metadata", Ask(f"{ROOT}/pods?resourceVersion=0", accept=PARTIAL)),
    *_both("POST configmap", f"{ROOT}/configmaps", "POST", "ConfigMap", CONFIG_MAP, 0.128, Aim(0.19, 0.26)),
    *_both("POST pod", f"{ROOT}/pods", "POST", "Pod", pod(f"w{OWN}"), 0.071, Aim(0.11, 0.14)),
    Row(
        "PATCH label",
        Ask(
            f"{ROOT}/pods/seed-{ONE}",
            "PATCH",
            json.dumps({"metadata": {"labels": {"rev": f"w{OWN}"}}}).encode(),
            MERGE_PATCH,
        ),
        0.036,
        Aim(0.075, 0.11),
    ),
    *_both("PUT status", f"{ROOT}/pods/seed-{ONE}/status", "PUT", "Pod", STATUS, 0.037, Aim(0.075, 0.11)),
]


def chosen(words: list[str]) -> list[Row]:
    """Return the rows whose names have one of the words, and those that they are set against; all without words.

    Raises:
        SystemExit: no row's name has a word.
    """
    rows = [row for word in words for row in _named(word)] or ROWS
    needed = {row.name for row in rows} | {row.aim.row for row in rows if row.aim is not None}
    return [row for row in ROWS if row.name in needed]


def _named(word: str) -> list[Row]:
    found = [row for row in ROWS if word.lower() in row.name.lower()]
    if not found:
        raise SystemExit(f"no row's name has {word!r}; there are: {'; '.join(row.name for row in ROWS)}")
    return found


def seed(server: Served) -> None:
    """Create what the reads are about.

    Raises:
        RuntimeError: it is refused.
    """
    server.send("POST", f"{ROOT}/serviceaccounts", {"metadata": {"name": "default"}})
    for number in range(PODS):
        status, content = server.send("POST", f"{ROOT}/pods", pod(f"seed-{number:03}"))
        if status != 201:
            raise RuntimeError(content)
