"""Merging an apply configuration into an object by the published schemas.

Maps merge by name, lists by what their schema says; what is atomic may not be touched, lest its rest get lost.
Source: kubernetes apiserver ``pkg/admission/plugin/policy/mutating/patch/smd.go``, structured-merge-diff.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import orjson

from hyperkube.client.client import Client
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.objects import Object

Schema = Mapping[str, Any]
_FRESH_SECONDS = 30.0


class MergeRefused(Exception):
    """The configuration does not fit the object; ``str()`` says why."""


class Schemas:
    """The schemas the server publishes, fetched per group version when first needed and again after a while."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, dict[str, Any]]] = {}

    def find(self, kind: GroupVersionKind) -> MergeSchema | None:
        """Return the schema of a kind, None when none is published."""
        path = f"apis/{kind.api_version}" if kind.group else f"api/{kind.version}"
        document = self._document(path)
        for schema in document.values():
            for one in schema.get("x-kubernetes-group-version-kind") or ():
                if (one["group"], one["version"], one["kind"]) == tuple(kind):
                    return MergeSchema(schema, document)
        return None

    def _document(self, path: str) -> dict[str, Any]:
        now = self._clock.monotonic()
        with self._lock:
            known = self._known.get(path)
        if known is not None and now - known[0] < _FRESH_SECONDS:
            return known[1]
        answer = self._client.request("GET", f"/openapi/v3/{path}")
        schemas: dict[str, Any] = {}
        if answer.status == 200:
            schemas = orjson.loads(answer.body).get("components", {}).get("schemas", {})
        with self._lock:
            self._known[path] = (now, schemas)
        return schemas


class MergeSchema:
    """One level of a published schema, with the document its references point into."""

    def __init__(self, schema: Schema, document: Mapping[str, Any]) -> None:
        self._document = document
        self._own = schema
        self._target = self._resolved(schema)

    def _resolved(self, schema: Schema) -> Schema:
        reference = schema.get("$ref")
        if reference is None and len(schema.get("allOf") or ()) == 1:
            reference = schema["allOf"][0].get("$ref")
        if reference is None:
            return schema
        return self._resolved(self._document.get(str(reference).rpartition("/")[2], {}))

    def say(self, name: str) -> Any:
        """Return an extension: as the field has it, else as its type has it."""
        return self._own.get(name, self._target.get(name))

    def field(self, name: str) -> MergeSchema | None:
        """Return the schema of a member; None when it is not known."""
        found = (self._target.get("properties") or {}).get(name)
        if found is None:
            found = self._target.get("additionalProperties")
        return MergeSchema(found, self._document) if isinstance(found, dict) else None

    @property
    def items(self) -> MergeSchema | None:
        """The schema of the items of a list."""
        found = self._target.get("items")
        return MergeSchema(found, self._document) if isinstance(found, dict) else None


def atomics(patch: Any, schema: MergeSchema | None, path: str = "") -> list[str]:
    """Return the paths of what a patch sets that may only be replaced as a whole."""
    if schema is None:
        return []
    found: list[str] = []
    if isinstance(patch, dict):
        if schema.say("x-kubernetes-map-type") == "atomic":
            found.append(path)
        for name, value in patch.items():
            found += atomics(value, schema.field(name), f"{path}.{name}")
    elif isinstance(patch, list):
        if schema.say("x-kubernetes-list-type") not in {"map", "set"}:
            found.append(path)
        for index, value in enumerate(patch):
            found += atomics(value, schema.items, f"{path}[{index}]")
    return found


def apply_configuration(live: Object, patch: Object, schema: MergeSchema | None) -> Object:
    """Return an object with a configuration merged into it; the arguments stay as they are.

    Raises:
        MergeRefused: it would change something atomic, or its list items lack their keys.
    """
    atomic = atomics(patch, schema)
    if atomic:
        text = ", ".join(atomic)
        raise MergeRefused(f"invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {text}")
    merged: Object = _merge(live, patch, schema)
    return merged


def _merge(live: Any, patch: Any, schema: MergeSchema | None) -> Any:
    if isinstance(live, dict) and isinstance(patch, dict):
        merged = dict(live)
        for name, value in patch.items():
            inner = schema.field(name) if schema is not None else None
            merged[name] = _merge(live.get(name), value, inner)
        return merged
    if isinstance(live, list) and isinstance(patch, list) and schema is not None:
        if schema.say("x-kubernetes-list-type") == "set":
            return [*live, *(item for item in patch if item not in live)]
        keys = schema.say("x-kubernetes-list-map-keys") or []
        return _merge_items(live, patch, keys, schema.items)
    return patch


def _merge_items(live: list[Any], patch: list[Any], keys: list[str], schema: MergeSchema | None) -> list[Any]:
    merged = list(live)
    defaults = {key: _default(schema, key) for key in keys}
    places = {_key(item, defaults): place for place, item in enumerate(live)}
    for item in patch:
        key = _key(item, defaults)
        if key in places:
            merged[places[key]] = _merge(merged[places[key]], item, schema)
        else:
            places[key] = len(merged)
            merged.append(item)
    return merged


def _default(schema: MergeSchema | None, key: str) -> Any:
    member = schema.field(key) if schema is not None else None
    return member.say("default") if member is not None else None


def _key(item: Any, defaults: Mapping[str, Any]) -> tuple[Any, ...]:
    key = tuple(item.get(name, default) for name, default in defaults.items())
    if all(part is None for part in key):
        named = ", ".join(defaults)
        raise MergeRefused(
            f"failed to convert patch object to typed object: element has no value for its keys: {named}"
        )
    return key
