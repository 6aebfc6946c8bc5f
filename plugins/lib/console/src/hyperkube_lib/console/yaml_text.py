"""Objects as the text that people edit, and what an edit would change, line by line; pure."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from hyperkube_lib.serving.yaml import dumps

from hyperkube.machinery.codecs import yaml
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

_SET_BY_SERVER = ("managedFields", "uid", "creationTimestamp", "generation", "selfLink", "resourceVersion")


def editable(obj: Object) -> str:
    """Return what of an object can be edited as YAML: without its status and what the server alone sets."""
    return _text(_without(obj, _SET_BY_SERVER))


def read_edited(text: str, kind: str, name: str, namespace: str) -> Object:
    """Return the object that an edited text describes, as it is applied.

    Raises:
        UsageError: it is no YAML, or describes another object than the one on the page.
    """
    try:
        found, _duplicates = yaml.loads(text.encode())
    except yaml.YamlError as error:
        raise UsageError(str(error)) from error
    if not isinstance(found, dict) or not isinstance(found.get("metadata"), dict):
        raise UsageError("the text describes no object: it has no metadata")
    metadata = found["metadata"]
    told = (found.get("kind"), metadata.get("name"), metadata.get("namespace") or "")
    if told != (kind, name, namespace):
        shown = f"{kind} {name}" + (f" in {namespace}" if namespace else "")
        raise UsageError(f"kind, name and namespace must stay: this is {shown}")
    return _without(found, _SET_BY_SERVER)


def difference(before: Object, after: Object) -> Sequence[tuple[str, str]]:
    """Return the lines that differ, with three around them, as (``add``, ``del``, ``same`` or ``place``, text)."""
    old, new = (editable(obj).splitlines() for obj in (before, after))
    marks = {"+": "add", "-": "del", "@": "place", " ": "same"}
    lines = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    return [(marks[line[:1] or " "], line) for line in lines]


def _without(obj: Object, names: Sequence[str]) -> Object:
    metadata = {key: value for key, value in (obj.get("metadata") or {}).items() if key not in names}
    rest = {key: value for key, value in obj.items() if key not in {"status", "metadata", "apiVersion", "kind"}}
    return {"apiVersion": obj.get("apiVersion"), "kind": obj.get("kind"), "metadata": metadata, **rest}


def _text(obj: Object) -> str:
    return dumps(obj).decode()
