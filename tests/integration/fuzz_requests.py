"""Requests of every verb that something is wrong with: their body, headers, query or path.

They keep to a namespace of their own, away from the sound requests of `fuzz_cases`.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from client_objects import GROUP, custom, definition, deployment, pod
from hypothesis import strategies as st

SOUND, BROKEN = "sound", "broken"
NAMES = ("seed", "gone", "Not_A_Name", "a" * 300, "%00", "..", "seed:x", "default")
JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
PATCHES = ("json-patch+json", "merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml", "apply-patch+cbor")
GUARDED = {"admissionregistration.k8s.io", "apiregistration.k8s.io", "apiextensions.k8s.io"}
"""Groups whose objects change how the server treats others: broken requests only pretend to write them."""
GUARDED_RESOURCES = {"namespaces", "servicecidrs", "ipaddresses", "clusterroles", "clusterrolebindings"}


@dataclass(frozen=True)
class Case:
    """One request."""

    method: str
    path: str
    query: tuple = ()
    headers: dict = field(default_factory=dict)
    body: bytes = b""
    sound: bool = False
    heavy: bool = False

    @property
    def writes(self):
        return self.method not in {"GET", "HEAD", "OPTIONS"}


def _meta(name="seed", **more):
    return {"name": name, "namespace": BROKEN, **more}


def _typed(version, kind, **content):
    return {"apiVersion": version, "kind": kind, "metadata": _meta(), **content}


_TEMPLATE = deployment("seed")["spec"]["template"]
_RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
_BACKEND = {"service": {"name": "seed", "port": {"number": 80}}}
SEEDS = {
    "/api/v1": {
        "configmaps": _typed("v1", "ConfigMap", data={"a": "b"}, binaryData={"c": "AAE="}),
        "secrets": _typed("v1", "Secret", stringData={"a": "b"}, type="Opaque"),
        "pods": pod("seed", BROKEN, app="seed"),
        "services": _typed("v1", "Service", spec={"selector": {"app": "seed"}, "ports": [{"name": "w", "port": 80}]}),
        "persistentvolumeclaims": _typed(
            "v1",
            "PersistentVolumeClaim",
            spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        ),
        "resourcequotas": _typed("v1", "ResourceQuota", spec={"hard": {"pods": "10000", "requests.cpu": "1k"}}),
        "limitranges": _typed("v1", "LimitRange", spec={"limits": [{"type": "Container", "max": {"cpu": "2"}}]}),
        "nodes": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "seed"}, "spec": {"podCIDR": "10.1.0.0/24"}},
    },
    "/apis/apps/v1": {
        "deployments": deployment("seed", 1, BROKEN),
        "statefulsets": _typed(
            "apps/v1",
            "StatefulSet",
            spec={"serviceName": "s", "selector": {"matchLabels": {"app": "seed"}}, "template": _TEMPLATE},
        ),
    },
    "/apis/batch/v1": {
        "jobs": _typed(
            "batch/v1",
            "Job",
            spec={"template": {"spec": {**_TEMPLATE["spec"], "restartPolicy": "Never"}}, "completions": 2},
        ),
        "cronjobs": _typed(
            "batch/v1",
            "CronJob",
            spec={
                "schedule": "*/5 * * * *",
                "jobTemplate": {"spec": {"template": {"spec": {**_TEMPLATE["spec"], "restartPolicy": "Never"}}}},
            },
        ),
    },
    "/apis/rbac.authorization.k8s.io/v1": {"roles": _typed("rbac.authorization.k8s.io/v1", "Role", rules=_RULES)},
    "/apis/coordination.k8s.io/v1": {
        "leases": _typed(
            "coordination.k8s.io/v1",
            "Lease",
            spec={"holderIdentity": "me", "renewTime": "2026-01-02T03:04:05.000006Z", "leaseDurationSeconds": 9},
        )
    },
    "/apis/networking.k8s.io/v1": {
        "ingresses": _typed(
            "networking.k8s.io/v1",
            "Ingress",
            spec={
                "rules": [
                    {"host": "a.b", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": _BACKEND}]}}
                ]
            },
        ),
        "networkpolicies": _typed(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            spec={"podSelector": {}, "ingress": [{"ports": [{"port": 80, "protocol": "TCP"}]}]},
        ),
    },
    "/apis/autoscaling/v2": {
        "horizontalpodautoscalers": _typed(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            spec={"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "seed"}},
        )
    },
    "/apis/policy/v1": {
        "poddisruptionbudgets": _typed(
            "policy/v1",
            "PodDisruptionBudget",
            spec={"minAvailable": "50%", "selector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}},
        )
    },
    "/apis/apiextensions.k8s.io/v1": {"customresourcedefinitions": definition("Trinket")},
    f"/apis/{GROUP}/v1": {"widgets": {**custom("Widget", "seed", colour="blue", replicas=1), "metadata": _meta()}},
}
CLUSTER = {"nodes", "customresourcedefinitions"}
LEGACY = {
    "/apis/extensions/v1beta1": ("/apis/apps/v1", "deployments"),
    "/apis/apps/v1beta1": ("/apis/apps/v1", "statefulsets"),
    "/apis/apps/v1beta2": ("/apis/apps/v1", "deployments"),
    "/apis/batch/v1beta1": ("/apis/batch/v1", "cronjobs"),
    "/apis/batch/v2alpha1": ("/apis/batch/v1", "cronjobs"),
    "/apis/policy/v1beta1": ("/apis/policy/v1", "poddisruptionbudgets"),
    "/apis/autoscaling/v2beta2": ("/apis/autoscaling/v2", "horizontalpodautoscalers"),
    "/apis/coordination.k8s.io/v1beta1": ("/apis/coordination.k8s.io/v1", "leases"),
}
"""Removed versions: the same documents under an older name."""
for _where, (_today, _resource) in LEGACY.items():
    _seed = SEEDS[_today][_resource]
    SEEDS[_where] = {_resource: {**_seed, "apiVersion": _where.removeprefix("/apis/")}}
BODIES = {(place, name): body for place, kinds in SEEDS.items() for name, body in kinds.items()}
_SUBRESOURCES = ("", "", "", "", "status", "scale", "log", "exec", "eviction", "binding", "ephemeralcontainers",
                 "resize", "token", "approval", "finalize", "proxy", "attach", "portforward", "x/y")  # fmt: skip

_words = st.sampled_from(
    ["", "a", "A_B", "1Gi", "9e99Ei", "-1", "50%", "*", "../x", "2026-01-02T03:04:05Z", "2026-13-99", "10.0.0.300",
     "a=b", "!a", "in (", "True", "Orphan", "All", "Strict", "\x00", "\u2028é", "\ud800", "k8s.io/x", "a" * 5000,
     "TCP", "null", "{}", "[[", "+Inf", "0x1F"]
)  # fmt: skip
_numbers_of_all_sizes = st.sampled_from([0, -1, 1, 80, 65536, 2**31, 2**53, 2**63, -(2**63) - 1, 2**80, 0.5, 1e300])
_leaves = st.none() | st.booleans() | _numbers_of_all_sizes | _words | st.text(max_size=8)
_keys = st.sampled_from(["name", "metadata", "spec", "key", "value", "", "$patch", "a/b", "kind", "labels", "f:x"])
junk = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=6,
)


def paths_of(value, at=()):
    """Return the path of every value in a document."""
    found = [at]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += paths_of(item, (*at, key))
    return found


def changed(value, path, change):
    """Return a copy with the value at a path changed by `change`, which may return `DROPPED`."""
    if not path:
        return change(value)
    copy = value.copy()
    new = changed(copy[path[0]], path[1:], change)
    if new is DROPPED:
        del copy[path[0]]
    else:
        copy[path[0]] = new
    return copy


DROPPED = object()


@st.composite
def broken_bodies(draw, body):
    """A sound document with a few things wrong."""
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(paths_of(body)))
        how = draw(st.sampled_from(["replace", "replace", "drop", "add", "double"]))
        value = draw(junk)
        if how == "drop" and path:
            body = changed(body, path, lambda _: DROPPED)
        elif how == "add":
            key = draw(_keys)
            body = changed(
                body, path, lambda old, key=key, new=value: {**old, key: new} if isinstance(old, dict) else [old, new]
            )
        elif how == "double":
            body = changed(body, path, lambda old: [*old, *old] if isinstance(old, list) else [old])
        else:
            body = changed(body, path, lambda _, new=value: new)
    return body


@st.composite
def encoded(draw, body):
    """The bytes of a document, sometimes cut, doubled or not of the format at all."""
    text = json.dumps(body).encode()
    how = draw(st.sampled_from(["whole"] * 12 + ["cut", "twice", "bytes", "protobuf", "nan", "deep", "empty"]))
    match how:
        case "cut":
            return text[: draw(st.integers(0, len(text)))]
        case "twice":
            return text[:-1] + b"," + text[1:]
        case "bytes":
            return draw(st.binary(max_size=40))
        case "protobuf":
            return b"k8s\x00" + draw(st.binary(max_size=60))
        case "nan":
            return b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":NaN}}'
        case "deep":
            depth = draw(st.sampled_from([90, 600, 3000, 11000]))
            deep = b'{"a":' * depth + b"1" + b"}" * depth
            return draw(st.sampled_from([deep, text.replace(b": {", b': {"spec": ' + deep + b",", 1)]))
        case "empty":
            return b""
    return text


queries = st.lists(
    st.tuples(
        st.sampled_from(
            ["limit", "continue", "resourceVersion", "resourceVersionMatch", "labelSelector", "fieldSelector", "dryRun",
             "fieldManager", "fieldValidation", "force", "propagationPolicy", "gracePeriodSeconds", "timeoutSeconds",
             "watch", "allowWatchBookmarks", "sendInitialEvents", "pretty", "timeout", "orphanDependents", "container",
             "ignoreStoreReadErrorWithClusterBreakingPotential", "tailLines", "command", "includeObject"]
        ),
        _words | st.integers(-2, 2**66).map(str),
    ),
    max_size=3,
).map(tuple)  # fmt: skip
media = st.sampled_from(
    [JSON, JSON, YAML, PROTOBUF, "text/plain", "*/*", "", "application/json;as=Table;v=v1;g=meta.k8s.io", "a/b;;=",
     "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,*/*", "application/cbor", "application/json;q=x",
     *(f"application/{name}" for name in PATCHES)]
)  # fmt: skip
_others = st.fixed_dictionaries(
    {"impersonate-user": st.sampled_from(["somebody", "system:serviceaccount:a:b", "system:node:x"])},
    optional={"impersonate-group": _words, "impersonate-uid": _words, "impersonate-extra-a%ZZ": _words},
)
_usual = st.fixed_dictionaries(
    {"content-type": media},
    optional={
        "accept": media,
        "content-encoding": st.sampled_from(["gzip", "br", "identity"]),
        "accept-encoding": _words,
        "if-none-match": _words,
        "user-agent": _words,
        "audit-id": _words,
    },
)
headers = st.tuples(_usual, st.integers(0, 11), _others).map(
    lambda some: {**some[0], **(some[2] if not some[1] else {})}
)


def place(where, resource, namespace="", name="", part=""):
    """Return the path of a resource, an object or a part of one."""
    inside = f"/namespaces/{namespace}" if namespace and resource not in CLUSTER else ""
    return f"{where}{inside}/{resource}" + (f"/{name}" if name else "") + (f"/{part}" if part else "")


@st.composite
def broken(draw):
    """A request that something is wrong with, or at least odd."""
    where, resource = draw(st.sampled_from(sorted(BODIES)))
    if draw(st.integers(0, 3)) == 0:
        where, resource = draw(st.sampled_from(OTHERS))
    seed = BODIES.get((where, resource), _typed("v1", "Namespace"))
    method = draw(st.sampled_from(["GET", "POST", "POST", "PUT", "PATCH", "PATCH", "DELETE", "HEAD", "OPTIONS", "X"]))
    named = method in {"PUT", "PATCH"} or (method != "POST" and draw(st.booleans()))
    name = draw(st.sampled_from(("seed",) * 8 + NAMES)) if named else ""
    part = draw(st.sampled_from(_SUBRESOURCES)) if named else ""
    path = place(where, resource, draw(st.sampled_from([BROKEN, BROKEN, BROKEN, "gone", ""])), name, part)
    sent = draw(headers)
    if method == "PATCH" and draw(st.integers(0, 5)):
        sent["content-type"] = f"application/{draw(st.sampled_from(PATCHES))}"
    elif draw(st.booleans()):
        sent["content-type"] = JSON
    body = draw(patches(seed)) if method == "PATCH" else draw(broken_bodies(seed))
    query = draw(queries) if draw(st.booleans()) else ()
    group = where.split("/")[2]
    if method != "GET" and (group in GUARDED or resource in GUARDED_RESOURCES):
        query = (("dryRun", "All"),)
    content = b"" if method == "DELETE" and draw(st.booleans()) else draw(encoded(body))
    return Case(method, path, query, sent, content)


@st.composite
def patches(draw, seed):
    """The body of a patch of any kind."""
    if draw(st.booleans()):
        return draw(broken_bodies(seed))
    pointers = st.sampled_from(
        ["/" + "/".join(map(str, path)) for path in paths_of(seed)] + ["", "/-", "a", "/~2", "/"]
    )
    step = st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "no"]), "path": pointers},
        optional={"value": junk, "from": pointers},
    )
    return draw(st.lists(step, max_size=4) | junk)


def _forged(rv, start):
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": rv, "start": start})
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


_TOKENS = [
    "x",
    "e30",
    *(_forged(rv, start) for rv in (1, -1, 0, 10**20, "1", None) for start in ("a", "", "/x", "../y")),
]
_LIST_OPTIONS = {
    "limit": ["-1", "0", "1", "2", str(2**63), "1_0", "9" * 5000, " 1"],
    "continue": _TOKENS,
    "resourceVersion": ["0", "1", "9", "-1", str(2**64), "1.0", "x"],
    "resourceVersionMatch": ["Exact", "NotOlderThan", "exact"],
    "watch": ["1", "true", "false", "0"],
    "sendInitialEvents": ["true", "false", "1"],
    "allowWatchBookmarks": ["true", "x"],
    "timeout": ["1s", "-1s", "0", "1", "x", "9999h", "99999999h", "1h30m"],
    "timeoutSeconds": ["-1", "0", "1", str(2**63 - 1), "x"],
    "labelSelector": ["a", "!a", "a=b,c!=d", "a in (b,c)", "a in ()", "=", "a>1", "a>b", "é=1", "a=" + "b" * 64],
    "fieldSelector": ["metadata.name=seed", "metadata.name!=seed", "metadata.namespace=x", "a=b", "=", "a\\,b=c", "a"],
    "includeObject": ["Object", "None", "Metadata", "x"],
}


@st.composite
def odd_lists(draw):
    """A list or a watch with options that may not go together."""
    where, resource = draw(st.sampled_from(sorted(BODIES) + OTHERS))
    names = draw(st.lists(st.sampled_from(sorted(_LIST_OPTIONS)), min_size=1, max_size=4, unique=True))
    query = tuple((name, draw(st.sampled_from(_LIST_OPTIONS[name]))) for name in names)
    namespace = draw(st.sampled_from([BROKEN, "gone", ""]))
    return Case("GET", place(where, resource, namespace), query, {"accept": draw(media)}, b"")


@st.composite
def odd_paths(draw):
    """A path that leads nowhere, or to the pages of the server."""
    pages = ["/", "/api", "/apis", "/openapi/v2", "/openapi/v3", "/version", "/healthz", "/livez/ping", "/metrics",
             "/apis/apps", "/apis/none", "/apis/none/v1/x", "/api/v2", "/api/v1/none", "//", "/api//v1", "/nothing",
             "/api/v1/namespaces//pods", "/api/v1/watch/pods", "/openapi/v3/apis/apps/v1", "/.well-known/x"]  # fmt: skip
    path = draw(st.sampled_from(pages)) + draw(st.sampled_from(["", "", "/", "/é", "/%2F", "?"]))
    method = draw(st.sampled_from(["GET", "GET", "POST", "DELETE", "HEAD", "OPTIONS"]))
    return Case(method, path, draw(queries), draw(headers), b"")


OTHERS = [
    ("/api/v1", "namespaces"), ("/api/v1", "events"), ("/api/v1", "bindings"), ("/api/v1", "serviceaccounts"),
    ("/api/v1", "endpoints"), ("/api/v1", "componentstatuses"), ("/apis/apps/v1", "controllerrevisions"),
    ("/apis/authorization.k8s.io/v1", "subjectaccessreviews"), ("/apis/authentication.k8s.io/v1", "tokenreviews"),
    ("/apis/authorization.k8s.io/v1", "selfsubjectrulesreviews"), ("/apis/storage.k8s.io/v1", "storageclasses"),
    ("/apis/certificates.k8s.io/v1", "certificatesigningrequests"), ("/apis/scheduling.k8s.io/v1", "priorityclasses"),
    ("/apis/admissionregistration.k8s.io/v1", "validatingadmissionpolicies"), ("/apis/events.k8s.io/v1", "events"),
    ("/apis/discovery.k8s.io/v1", "endpointslices"), ("/apis/flowcontrol.apiserver.k8s.io/v1", "flowschemas"),
    ("/apis/networking.k8s.io/v1", "servicecidrs"), ("/apis/resource.k8s.io/v1", "resourceclaims"),
]  # fmt: skip


def target(case):
    """Return the request line of a case."""
    query = urlencode([(key, value.encode("utf-8", "replace")) for key, value in case.query])
    return quote(case.path, safe="/%:?") + (f"?{query}" if query else "")


def shown(case):
    """Return a case in one line, for who has to send it again."""
    headers = {
        name: value if len(value) < 200 else f"{value[:9]} x {len(value)}" for name, value in case.headers.items()
    }
    return f"{case.method} {target(case)[:2000]} {headers} {case.body[:1500]!r}"
