"""The priority levels and flow schemas of every cluster.

Source: kubernetes pkg/apis/flowcontrol/bootstrap/default.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from hyperkube_api.flowcontrol.conditions import dangling_condition

from hyperkube.machinery.objects import Object, name_of

EXEMPT = "exempt"
MANDATORY = frozenset({EXEMPT, "catch-all"})
API_VERSION = "flowcontrol.apiserver.k8s.io/v1"
_ANNOTATIONS = {"apf.kubernetes.io/autoupdate-spec": "true"}
_LEVELS = (
    ("catch-all", 5, 0, None),
    ("global-default", 20, 50, (128, 6)),
    ("leader-election", 10, 0, (16, 4)),
    ("node-high", 40, 25, (64, 6)),
    ("system", 30, 33, (64, 6)),
    ("workload-high", 40, 50, (128, 6)),
    ("workload-low", 100, 90, (128, 6)),
)
"""(name, shares, lendable percent, (queues, hand size) or None to reject)."""

_QUEUE_LENGTH = 50
_ANY = "*"
_EVERY_RESOURCE = {
    "verbs": [_ANY],
    "apiGroups": [_ANY],
    "resources": [_ANY],
    "clusterScope": True,
    "namespaces": [_ANY],
}
_EVERY_PATH = {"verbs": [_ANY], "nonResourceURLs": [_ANY]}
_PROBES = {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}
_LEASES = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "namespaces": [_ANY]}
_NODES = {
    "verbs": [_ANY],
    "apiGroups": [""],
    "resources": ["nodes", "nodes/status"],
    "clusterScope": True,
    "namespaces": [_ANY],
}


def _group(name: str) -> Object:
    return {"kind": "Group", "group": {"name": name}}


def _user(name: str) -> Object:
    return {"kind": "User", "user": {"name": name}}


def _accounts(namespace: str) -> Object:
    return {"kind": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": _ANY}}


def _everything(*subjects: Object) -> list[Object]:
    return [{"subjects": list(subjects), "resourceRules": [_EVERY_RESOURCE], "nonResourceRules": [_EVERY_PATH]}]


_MANAGER, _SCHEDULER = _user("system:kube-controller-manager"), _user("system:kube-scheduler")
_ALL = (_group("system:unauthenticated"), _group("system:authenticated"))
_ELECTION = [
    {
        "subjects": [_MANAGER, _SCHEDULER, _accounts("kube-system")],
        "resourceRules": [{"verbs": ["get", "create", "update"], **_LEASES}],
    }
]
_NODE_LIFE = [{"subjects": [_group("system:nodes")], "resourceRules": [_NODES, {"verbs": [_ANY], **_LEASES}]}]
_SCHEMAS: tuple[tuple[str, int, str, str, list[Object]], ...] = (
    ("exempt", 1, "exempt", "", _everything(_group("system:masters"))),
    ("probes", 2, "exempt", "", [{"subjects": list(_ALL), "nonResourceRules": [_PROBES]}]),
    ("system-leader-election", 100, "leader-election", "ByUser", _ELECTION),
    ("system-node-high", 400, "node-high", "ByUser", _NODE_LIFE),
    ("system-nodes", 500, "system", "ByUser", _everything(_group("system:nodes"))),
    ("kube-controller-manager", 800, "workload-high", "ByNamespace", _everything(_MANAGER)),
    ("kube-scheduler", 800, "workload-high", "ByNamespace", _everything(_SCHEDULER)),
    ("kube-system-service-accounts", 900, "workload-high", "ByNamespace", _everything(_accounts("kube-system"))),
    ("service-accounts", 9000, "workload-low", "ByUser", _everything(_group("system:serviceaccounts"))),
    ("global-default", 9900, "global-default", "ByUser", _everything(*_ALL)),
    ("catch-all", 10000, "catch-all", "ByUser", _everything(*_ALL)),
)
"""(name, precedence, level, distinguisher, rules)."""


def bootstrap_objects(now: str) -> Iterable[Object]:
    """Return the priority levels, then the flow schemas, with conditions of the time `now`."""
    exempt = {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}}
    yield _made("PriorityLevelConfiguration", "exempt", exempt)
    for name, shares, lendable, queuing in _LEVELS:
        response: Object = {"type": "Reject"}
        if queuing is not None:
            queues, hand = queuing
            sizes = {"queues": queues, "handSize": hand, "queueLengthLimit": _QUEUE_LENGTH}
            response = {"type": "Queue", "queuing": sizes}
        limited = {"nominalConcurrencyShares": shares, "lendablePercent": lendable, "limitResponse": response}
        yield _made("PriorityLevelConfiguration", name, {"type": "Limited", "limited": limited})
    for name, precedence, level, distinguisher, rules in _SCHEMAS:
        spec: Object = {"priorityLevelConfiguration": {"name": level}, "matchingPrecedence": precedence, "rules": rules}
        if distinguisher:
            spec["distinguisherMethod"] = {"type": distinguisher}
        schema = _made("FlowSchema", name, spec)
        yield {**schema, "status": {"conditions": [dangling_condition(level, now, exists=True)]}}


def _made(kind: str, name: str, spec: Object) -> Object:
    meta = {"name": name, "annotations": dict(_ANNOTATIONS)}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": meta, "spec": spec}


@cache
def _by_name() -> dict[tuple[str, str], Object]:
    return {(str(obj["kind"]), name_of(obj)): obj for obj in bootstrap_objects("")}


def bootstrap_object(kind: str, name: str) -> Object:
    """Return one of the bootstrap objects, which the caller must not change.

    Raises:
        KeyError: there is none of that kind and name.
    """
    return _by_name()[kind, name]
