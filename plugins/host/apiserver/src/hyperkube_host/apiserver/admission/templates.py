"""What admission plugins did to the last object of a template is done to the next without asking them.

A ReplicaSet creates pods that differ in nothing but their names, and plugins that say so (`Repeats`) treat them alike;
so they do when one is written anew with its specification and annotations as they were, for a label or an owner.
So of several such plugins in a row the outcome is kept, by all of the object that they may look at, for as long as the
informers that they look into stay the same. An object of its own kind leaves nothing: outcomes are kept from the second
on. Refusals are not kept, nor outcomes of which anything else is to be undone,
told or done again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import orjson
from hyperkube_host.apiserver.admission.shared_members import part, part_spec, text_of
from hyperkube_host.apiserver.resources.recurring import BUSY_TEMPLATES, Recurring
from hyperkube_host.apiserver.resources.template_text import template_text

from hyperkube.client.informer import Informer
from hyperkube.hookspecs.admission import AdmissionRequest, Operation, Repeats
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.recent import TEMPLATE_MAX, exact

Key: TypeAlias = "tuple[bytes, Operation, str, str, bool]"
"""The text of what decides; the operation, namespace and user's name; whether it is a dry run."""

_MEMORY = "hyperkube.template"
FEWEST = 3
"""Plugins in a row for which it pays: fewer cost less than to look at the object as a whole."""


class _Outcome(NamedTuple):
    """What became of an object.

    Attributes:
        changes: of each informer, as the plugins found it.
        spec: the members of ``spec`` that were set, as JSON; empty for none.
        metadata: likewise.
        annotations: the audit annotations that were set.
        text: of the template of a new object of which ``spec`` alone was changed, afterwards; else empty.
    """

    changes: tuple[int, ...]
    spec: bytes
    metadata: bytes
    annotations: dict[str, str]
    text: bytes


class RepeatedSteps:
    """Hooks in a row that treat the objects of a template alike.

    Args:
        plugins: whose hooks they are.
        run: calls them all.
    """

    def __init__(self, plugins: Sequence[Repeats], run: Callable[[AdmissionRequest], None]) -> None:
        self._plugins = tuple(plugins)
        self._run = run
        informers: dict[int, Informer] = {id(each): each for plugin in plugins for each in plugin.decided_by}
        self._informers = tuple(informers.values())
        self._outcomes: Recurring[Key, _Outcome] = Recurring(BUSY_TEMPLATES)

    def __call__(self, request: AdmissionRequest) -> None:
        """Do to the request's object what the hooks do.

        Raises:
            ApiError: one of them refuses.
        """
        obj, operation = request.object, request.operation
        if obj is None or request.is_reinvocation:
            self._run(request)
            return
        is_new = operation == "CREATE"
        text = text_of(request) or template_text(obj) if is_new else _text_of_what_stays(obj, request)
        if text is None:
            self._run(request)
            return
        key = (text, operation, request.namespace, request.user.name, request.dry_run)
        known = self._outcomes.get(key)
        if known is not None and known.changes == tuple([each.changes for each in self._informers]):
            _, spec, metadata, annotations, changed = known
            if spec or metadata:
                part_spec(request, changed)
            if spec:
                obj.setdefault("spec", {}).update(orjson.loads(spec))
            if metadata:
                obj["metadata"].update(orjson.loads(metadata))
            if annotations:
                request.annotations |= annotations
            return
        if self._outcomes.recurs(key):
            self._learn(key, request)
        else:
            self._run(request)

    def _learn(self, key: Key, request: AdmissionRequest) -> None:
        """Call the hooks, and keep what they do if it is all of what they do."""
        part(request)
        # Counted before they look, as an informer counts after it has changed: what was found too early is not kept.
        changes = tuple([each.changes for each in self._informers])
        before = _apart(request.written())
        noted, others = dict(request.annotations), _else(request)
        self._run(request)
        try:
            after = _apart(request.written())
        except TypeError:  # not what JSON can hold: to be refused later
            return
        spec, metadata = _set(before.spec, after.spec), _set(before.metadata, after.metadata)
        if (
            spec is None
            or metadata is None
            or (metadata and request.operation == "UPDATE")  # labels are not among what decides
            or before.rest != after.rest
            or _else(request) != others
            or not noted.items() <= request.annotations.items()
            or not all(plugin.repeats(request) for plugin in self._plugins)
        ):
            return
        annotations = {name: text for name, text in request.annotations.items() if name not in noted}
        text = template_text(request.written()) if spec and not metadata and request.operation == "CREATE" else None
        self._outcomes.keep(key, _Outcome(changes, spec, metadata, annotations, exact(text or b"")))


def _text_of_what_stays(obj: Object, request: AdmissionRequest) -> bytes | None:
    """Return what decides about an update, as JSON; None if it is changed, too long, or no JSON.

    It is kept in the request, for the validating plugins.
    """
    old = request.old_object
    if old is None:
        return None
    spec, before = obj.get("spec"), old.get("spec")
    annotations = (obj.get("metadata") or {}).get("annotations")
    if (spec is not before and spec != before) or annotations != old["metadata"].get("annotations"):
        return None
    known: bytes | None = request.memory.get(_MEMORY)  # of the stored object, which stays as it is
    if known is not None:
        return known
    try:
        text = orjson.dumps((obj.get("kind"), spec, annotations))
    except TypeError:
        return None
    if len(text) > TEMPLATE_MAX:
        return None
    request.memory[_MEMORY] = text
    return text


class _Apart(NamedTuple):
    """A copy of an object, taken apart: what plugins may set, and the rest."""

    spec: Object
    metadata: Object
    rest: Object


def _apart(obj: Object) -> _Apart:
    rest = copy_object(obj)
    meta, spec = rest.get("metadata") or {}, rest.pop("spec", {}) if isinstance(rest.get("spec"), dict) else {}
    return _Apart(spec, {name: meta.pop(name) for name in ("labels", "annotations") if name in meta}, rest)


def _set(before: Object, after: Object) -> bytes | None:
    """Return the members that were set, as JSON, empty for none; None if one was taken away."""
    if not before.keys() <= after.keys():
        return None
    changed = {name: value for name, value in after.items() if name not in before or value != before[name]}
    return orjson.dumps(changed) if changed else b""


def _else(request: AdmissionRequest) -> tuple[object, ...]:
    """Return what else a hook leaves in a request."""
    asked = (request.wants_reinvocation, request.name, len(request.on_failure), len(request.warnings))
    return (*asked, dict(request.memory))
