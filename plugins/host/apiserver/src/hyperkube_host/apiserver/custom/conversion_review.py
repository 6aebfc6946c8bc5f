"""ConversionReview: what a conversion webhook is asked, and what it may answer.

A webhook converts what a definition says about objects. Who an object is, is none of its business: of the metadata only
labels and annotations are taken over.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/conversion/webhook_converter.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from hyperkube_host.apiserver.rest.metadata import validate_annotations, validate_labels

from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.field import Path, quote
from hyperkube.machinery.objects import Object, copy_object

GROUP, KIND = "apiextensions.k8s.io", "ConversionReview"
VERSIONS = ("v1", "v1beta1")

Converted = list[Object]
"""Objects in the version that was asked for, in the order in which they were sent."""


class NotConverted(Exception):
    """A webhook did not convert; ``str()`` is Kubernetes' text after the name of the kind (``failed: …``)."""


class NoCommonVersion(NotConverted):
    """A webhook understands no version of reviews that is spoken here."""


def chosen_version(understood: Sequence[str]) -> str:
    """Return the first version of reviews that a webhook understands and that is spoken here.

    Raises:
        NoCommonVersion: there is none.
    """
    for version in understood:
        if version in VERSIONS:
            return version
    raise NoCommonVersion("no supported conversion review versions")


def review(objects: Sequence[Object], desired: str, version: str, uid: str) -> bytes:
    """Return the review that asks for objects in the API version `desired`, as JSON."""
    empty: Object = {"uid": "", "convertedObjects": None, "result": {"metadata": {}}}
    request = {"uid": uid, "desiredAPIVersion": desired, "objects": list(objects)}
    return orjson.dumps({"kind": KIND, "apiVersion": f"{GROUP}/{version}", "request": request, "response": empty})


def read_answer(body: bytes, version: str, uid: str, originals: Sequence[Object], desired: str) -> Converted:
    """Return the converted objects of an answer.

    Raises:
        NotConverted: the webhook refuses, or its answer breaks the protocol.
    """
    answered = _answered(body, version, uid)
    if len(answered) != len(originals):
        raise NotConverted(f"returned {len(answered)} objects, expected {len(originals)}")
    single = len(originals) == 1
    return [
        _accepted(original, converted, desired, index, single=single)
        for index, (original, converted) in enumerate(zip(originals, answered, strict=True))
    ]


def _answered(body: bytes, version: str, uid: str) -> list[Any]:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise NotConverted(f"failed: couldn't get version/kind; json parse error: {error}") from error
    found: Mapping[str, Any] = document if isinstance(document, dict) else {}
    if version == "v1":
        _check_kind(found)
    response = found.get("response")
    if not isinstance(response, dict):
        raise NotConverted("failed: no response provided")
    if version == "v1" and response.get("uid") != uid:
        raise NotConverted(f"failed: expected response.uid={quote(uid)}, got {quote(response.get('uid') or '')}")
    result = response.get("result") or {}
    if result.get("status") != "Success":
        bare = f"response.result.status was '{result.get('status') or ''}', not 'Success'"
        raise NotConverted(f"failed: {result.get('message') or bare}")
    return response.get("convertedObjects") or []


def _check_kind(document: Mapping[str, Any]) -> None:
    group, _, version = str(document.get("apiVersion") or "").rpartition("/")
    kind = document.get("kind") or ""
    if (group, version, kind) != (GROUP, "v1", KIND):
        raise NotConverted(
            f"failed: expected webhook response of {GROUP}/v1, Kind={KIND}, got {group}/{version}, Kind={kind}"
        )


def _accepted(original: Object, converted: Any, desired: str, index: int, *, single: bool) -> Object:
    where = f"object at index {index}" if single else f"converted object at index {index}"
    if not isinstance(converted, dict):
        raise NotConverted(f"returned invalid {where}: it is no object")
    version, kind = converted.get("apiVersion") or "", converted.get("kind") or ""
    if version != desired:
        raise NotConverted(f"returned invalid {where}: invalid groupVersion (expected {desired}, received {version})")
    if kind != original.get("kind"):
        raise NotConverted(f"returned invalid {where}: invalid kind (expected {original.get('kind')}, received {kind})")
    where = "object" if single else where
    _check_identity(original["metadata"], converted.get("metadata"), where)
    inside = "" if single else f" in object at index {index}"
    return {**converted, "metadata": _metadata(original["metadata"], converted, inside)}


_IDENTITY = {"name": "name", "namespace": "namespace", "uid": "UID"}


def _check_identity(before: Object, after: Any, where: str) -> None:
    given = after if isinstance(after, dict) else {}
    for member, word in _IDENTITY.items():
        expected, actual = before.get(member) or "", given.get(member) or ""
        if expected != actual:
            raise NotConverted(f"returned invalid {where}: must have the same {word}: {expected} != {actual}")


def _metadata(before: Object, converted: Object, inside: str) -> Object:
    """Return the metadata of a converted object: the original's, with the webhook's labels and annotations."""
    given = converted["metadata"]
    kept = copy_object(before)
    for member, check in (("labels", validate_labels), ("annotations", validate_annotations)):
        value = given.get(member)
        kept.pop(member, None)
        if value is None:
            continue
        if not isinstance(value, dict):
            kind = _go_type(value)
            raise NotConverted(
                f"returned invalid metadata{inside}: invalid metadata.{member} of type {kind} in converted object"
            )
        for key, text in value.items():
            if not isinstance(text, str):
                raise NotConverted(
                    f"returned invalid metadata{inside}: metadata.{member}[{key}] must be a string, but is "
                    f"{_go_type(text)} in converted object"
                )
        path = Path("metadata").child("labels" if member == "labels" else "annotation")
        errors = check(value, path) if value != before.get(member) else []
        if errors:
            raise NotConverted(f"returned invalid metadata{inside}: {aggregate(errors)}")
        kept[member] = value
    return kept


def _go_type(value: Any) -> str:
    if value is None:
        return "<nil>"
    kinds = {bool: "bool", int: "int64", float: "float64", list: "[]interface {}"}
    return kinds.get(type(value), "map[string]interface {}")
