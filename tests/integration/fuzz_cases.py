"""What the fuzz test sends: sound requests, which must succeed, and broken ones.

Sound requests live in a namespace of their own that broken ones never touch. They create, apply, patch, replace, delete,
list and watch in every media type, the parts of an object and removed versions included.
"""

from __future__ import annotations

import itertools
import json

from client_objects import GROUP
from fuzz_requests import BODIES, CLUSTER, JSON, PROTOBUF, SOUND, YAML, Case, broken, odd_lists, odd_paths, place
from hypothesis import strategies as st

NAMESPACED = [key for key in sorted(BODIES) if key[1] not in CLUSTER]
WIDGETS = (f"/apis/{GROUP}/v1", "widgets")
SCALED = [("/apis/apps/v1", "deployments"), ("/apis/apps/v1", "statefulsets"), WIDGETS]
WITH_STATUS = [
    *SCALED,
    ("/api/v1", "services"),
    ("/apis/batch/v1", "jobs"),
    ("/apis/policy/v1", "poddisruptionbudgets"),
]
SHAPES = [
    JSON,
    YAML,
    "*/*",
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json",
    f"{PROTOBUF};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,{PROTOBUF},{JSON}",
    f"{PROTOBUF},{JSON}",
]
LISTS = [
    (),
    (("limit", "2"),),
    (("labelSelector", "app=seed"),),
    (("fieldSelector", "metadata.name=seed"),),
    (("pretty", "true"),),
    (("resourceVersion", "0"),),
    (("resourceVersion", "1"), ("resourceVersionMatch", "NotOlderThan")),
    (("watch", "true"), ("timeoutSeconds", "1"), ("resourceVersion", "0")),
    (("watch", "1"), ("timeoutSeconds", "1"), ("allowWatchBookmarks", "true"), ("sendInitialEvents", "true"),
     ("resourceVersionMatch", "NotOlderThan")),
]  # fmt: skip
ONE_SHAPES = [shape.replace("PartialObjectMetadataList", "PartialObjectMetadata") for shape in SHAPES]
PARAMETERS = [
    (),
    (("fieldManager", "me"),),
    (("fieldValidation", "Strict"),),
    (("fieldValidation", "Ignore"), ("pretty", "true")),
    (("dryRun", "All"),),
]
PATCHES = {
    "json-patch+json": lambda labels: [{"op": "add", "path": "/metadata/labels", "value": labels}],
    "merge-patch+json": lambda labels: {"metadata": {"labels": labels}},
    "strategic-merge-patch+json": lambda labels: {"metadata": {"labels": labels}},
}
LABELS = st.dictionaries(st.from_regex(r"[a-z]{1,9}", fullmatch=True), st.just("x"), max_size=3)

_numbers = itertools.count()


@st.composite
def read(draw):
    """A list, a watch, or one object, in any shape."""
    where, resource = draw(st.sampled_from(NAMESPACED))
    if draw(st.booleans()):
        path = place(where, resource, draw(st.sampled_from([SOUND, ""])))
        query, accept = draw(st.sampled_from(LISTS)), draw(st.sampled_from(SHAPES))
    else:
        path, query, accept = place(where, resource, SOUND, "seed"), (), draw(st.sampled_from(ONE_SHAPES))
    more = draw(st.sampled_from([{}, {"accept-encoding": "gzip"}, {"if-none-match": '"x"'}]))
    return Case("GET", path, query, {"accept": accept, **more}, b"", sound=True)


@st.composite
def made(draw):
    """An object that is new, posted or applied."""
    where, resource = draw(st.sampled_from(NAMESPACED))
    name = f"sound-{next(_numbers)}"
    document = json.loads(json.dumps(BODIES[where, resource]))
    document["metadata"] = {"name": name, "namespace": SOUND, "labels": draw(LABELS)}
    text = json.dumps(document).encode()
    query = draw(st.sampled_from(PARAMETERS))
    if draw(st.booleans()):
        kind = draw(st.sampled_from([JSON, YAML]))
        return Case("POST", place(where, resource, SOUND), query, {"content-type": kind}, text, sound=True)
    apply = {"content-type": "application/apply-patch+yaml"}
    query = (*[pair for pair in query if pair[0] != "fieldManager"], ("fieldManager", "me"))
    return Case("PATCH", place(where, resource, SOUND, name), query, apply, text, sound=True)


@st.composite
def changed_whole(draw):
    """A patch of the labels, a replacement, or a deletion that is only tried."""
    where, resource = draw(st.sampled_from(NAMESPACED))
    path, labels = place(where, resource, SOUND, "seed"), draw(LABELS)
    how = draw(st.sampled_from([*PATCHES, "delete"]))
    if how == "delete":
        options = draw(st.sampled_from([{}, {"propagationPolicy": "Foreground"}, {"gracePeriodSeconds": 0}]))
        body = json.dumps({"kind": "DeleteOptions", "apiVersion": "v1", **options}).encode()
        return Case("DELETE", path, (("dryRun", "All"),), {"content-type": JSON}, body, sound=True)
    if (where, resource) == WIDGETS:
        how = how.removeprefix("strategic-")
    text = json.dumps(PATCHES[how](labels)).encode()
    return Case(
        "PATCH", path, draw(st.sampled_from(PARAMETERS)), {"content-type": f"application/{how}"}, text, sound=True
    )


@st.composite
def changed_part(draw):
    """A change of the status or the scale."""
    merge = {"content-type": "application/merge-patch+json"}
    if draw(st.booleans()):
        path = place(*draw(st.sampled_from(WITH_STATUS)), SOUND, "seed", "status")
        body = {"metadata": {"annotations": {"seen": str(draw(st.integers(0, 9)))}}}
    else:
        path = place(*draw(st.sampled_from(SCALED)), SOUND, "seed", "scale")
        body = {"spec": {"replicas": draw(st.integers(0, 4))}}
    if draw(st.integers(0, 3)) == 0:
        return Case("GET", path, (), {}, b"", sound=True)
    return Case("PATCH", path, draw(st.sampled_from(PARAMETERS)), merge, json.dumps(body).encode(), sound=True)


@st.composite
def asked(draw):
    """A page of the server, or a question that is posted and stored nowhere."""
    pages = ["/api", "/apis", "/apis/apps", "/apis/apps/v1", "/openapi/v3", "/version", "/healthz", "/livez", "/"]
    if draw(st.booleans()):
        return Case("GET", draw(st.sampled_from(pages)), (), {"accept": "*/*"}, b"", sound=True)
    attributes = {
        "verb": draw(st.text(max_size=5)),
        "resource": "pods",
        "namespace": draw(st.sampled_from([SOUND, ""])),
    }
    kind, spec = draw(
        st.sampled_from(
            [
                ("SelfSubjectAccessReview", {"resourceAttributes": attributes}),
                ("SubjectAccessReview", {"user": "somebody", "resourceAttributes": attributes}),
                ("SelfSubjectRulesReview", {"namespace": SOUND}),
            ]
        )
    )
    body = json.dumps({"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}).encode()
    return Case("POST", f"/apis/authorization.k8s.io/v1/{kind.lower()}s", (), {"content-type": JSON}, body, sound=True)


sound = st.one_of(read(), made(), made(), changed_whole(), changed_part(), asked())
wrong = st.integers(0, 6).flatmap(lambda which: odd_paths() if which == 0 else odd_lists() if which == 1 else broken())
