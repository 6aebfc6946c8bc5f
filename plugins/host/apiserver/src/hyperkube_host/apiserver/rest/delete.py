"""Delete: at once, gracefully, or when the last finalizer is gone.

Source: kubernetes apiserver ``pkg/registry/generic/registry/store.go`` (Delete), ``pkg/registry/rest/delete.go``.
"""

from __future__ import annotations

from datetime import timedelta

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.results import ObjectResult, success
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.resources.writing import Writing
from hyperkube_host.apiserver.rest import stored
from hyperkube_host.apiserver.rest.delete_options import IGNORE_READ_ERROR, delete_options
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_host.apiserver.rest.stored import Current

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import Conflict, NotFound, ServerTimeout
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.times import format_time, parse_time
from hyperkube.storage.store import Compare, Put
from hyperkube.storage.store import Delete as Remove

_ATTEMPTS = 50
_CHECKED_BY_STORE = frozenset(
    {GroupResource("", "namespaces"), GroupResource("apiextensions.k8s.io", "customresourcedefinitions")}
)
"""Resources whose registries mark a deletion themselves, so that the store checks the preconditions."""
_ORPHAN, _FOREGROUND = "orphan", "foregroundDeletion"


@dataclass(frozen=True, slots=True)
class Marked:
    """What a deletion makes of an object before it goes.

    Attributes:
        obj: with deletionTimestamp, grace and finalizers as they become; it shares the rest with the old one.
        gone: whether it leaves the store now.
        written: whether the mark is stored (even if it leaves the store right after).
    """

    obj: Object
    gone: bool
    written: bool


def delete(services: Services, request: ApiRequest, target: Target) -> ObjectResult:
    """Answer a DELETE of an object."""
    options = delete_options(services, request)
    call = services.call(request, target, body=options)
    call.dry_run = bool(options.get("dryRun"))
    if options.get(IGNORE_READ_ERROR):
        from hyperkube_host.apiserver.rest.delete_unreadable import delete_unreadable  # hardly ever asked for

        unsafe = delete_unreadable(services, request, target)
        if unsafe is not None:
            return unsafe
    return delete_one(services, request, target, call, options)


def delete_one(
    services: Services, request: ApiRequest, target: Target, call: Call, options: Object, *, admit: bool = True
) -> ObjectResult:
    """Delete one object as the options say.

    Raises:
        NotFound: there is no such object.
        Conflict: a precondition does not hold.
    """
    call.warnings += [text for text in target.served.strategy.deletion_warnings(call) if text not in call.warnings]
    for _ in range(_ATTEMPTS):
        current = stored.read(services.store, target.served, target.namespace, target.name)
        if current is None:
            raise NotFound.about(target.served.group_resource, target.name)
        check_preconditions(target, current.obj, options)
        if admit:
            admission = services.admission_request(
                call, target, "DELETE", old=current.obj, options=options, annotations=request.annotations
            )
            services.admission.mutate(admission)
            services.admission.validate(admission)
        target.served.strategy.before_delete(call, current.obj)
        marked = mark(services, call, target, current.obj, options)
        result = _carry_out(services, call, target, current, marked)
        if result is not None:
            return result
    resource = target.served.group_resource
    raise ServerTimeout(
        f"The delete operation against {resource} could not be completed at this time, please try again."
    )


def check_preconditions(target: Target, obj: Object, options: Object) -> None:
    """Compare the preconditions of a deletion with the object.

    Raises:
        Conflict: one does not hold.
    """
    wanted, meta = options.get("preconditions") or {}, obj["metadata"]
    kind = GroupResource(target.served.kind.group, target.served.kind.kind)
    uid, version = wanted.get("uid"), wanted.get("resourceVersion")
    if uid is not None and uid != meta["uid"]:
        if target.served.group_resource in _CHECKED_BY_STORE:
            raise _store_conflict(target, "UID", uid, meta["uid"])
        why = (
            f"the UID in the precondition ({uid}) does not match the UID in record ({meta['uid']}). "
            "The object might have been deleted and then recreated"
        )
        raise Conflict.about(kind, target.name, why)
    if version is not None and version != meta["resourceVersion"]:
        if target.served.group_resource in _CHECKED_BY_STORE:
            raise _store_conflict(target, "ResourceVersion", version, meta["resourceVersion"])
        why = (
            f"the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record "
            f"({meta['resourceVersion']}). The object might have been modified"
        )
        raise Conflict.about(kind, target.name, why)


def _store_conflict(target: Target, what: str, wanted: str, actual: str) -> Conflict:
    why = f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {actual}"
    return Conflict.about(target.served.group_resource, target.name, why)


def mark(services: Services, call: Call, target: Target, old: Object, options: Object) -> Marked:
    """Decide what becomes of an object that shall be deleted; the object itself stays as it is."""
    strategy = target.served.strategy
    obj = _markable(strategy, old)
    meta = obj["metadata"]
    if meta.get("deletionTimestamp") and strategy.blocks_deletion(obj):
        return Marked(obj, gone=False, written=False)
    finalizers = meta.get("finalizers") or []
    collected = services.options.features.enable_garbage_collector
    wanted = gc_finalizers(strategy, finalizers, options) if collected else finalizers
    grace = strategy.grace_seconds(call, old, options.get("gracePeriodSeconds"))
    shortened = _grace(services, meta, grace, options)
    if wanted:
        meta["finalizers"] = wanted
    else:
        meta.pop("finalizers", None)
    blocked = strategy.blocks_deletion(obj)
    waits = bool(wanted) or blocked
    if waits and not meta.get("deletionTimestamp"):
        _set_deletion(services, meta, 0)
        if blocked:  # what waits for more than finalizers (a namespace) knows no grace period
            del meta["deletionGracePeriodSeconds"]
    if meta.get("deletionTimestamp") and not old["metadata"].get("deletionTimestamp"):
        strategy.prepare_delete(call, obj)
    if waits or (shortened and grace) or _still_graceful(meta, grace, options):
        return Marked(obj, gone=False, written=obj != old)
    return Marked(obj, gone=True, written=shortened)


def _markable(strategy: Strategy, old: Object) -> Object:
    """Return a copy of an object, to be marked: of its metadata, or of all where the strategy adjusts the rest."""
    if type(strategy).prepare_delete is not Strategy.prepare_delete:
        return copy_object(old)
    return {**old, "metadata": {**old["metadata"]}}


def _still_graceful(meta: Object, grace: int | None, options: Object) -> bool:
    """Tell whether a graceful deletion is under way that this one does not cut short."""
    if grace is None or not meta.get("deletionTimestamp"):
        return False
    left = meta.get("deletionGracePeriodSeconds") or 0
    asked = options.get("gracePeriodSeconds")
    return bool(left) and (asked is None or asked >= left)


def _grace(services: Services, meta: Object, grace: int | None, options: Object) -> bool:
    """Begin a graceful deletion or shorten the one under way; tell whether anything changed."""
    if grace is None:
        return False
    if not meta.get("deletionTimestamp"):
        _set_deletion(services, meta, grace)
        return True
    left, asked = meta.get("deletionGracePeriodSeconds") or 0, options.get("gracePeriodSeconds")
    if asked is None or not left or asked >= left:
        return False
    moment = parse_time(meta["deletionTimestamp"]) - timedelta(seconds=left - grace)
    meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"] = format_time(moment), grace
    return True


def _set_deletion(services: Services, meta: Object, grace: int) -> None:
    meta["deletionTimestamp"] = format_time(services.clock.now() + timedelta(seconds=grace))
    meta["deletionGracePeriodSeconds"] = grace
    if meta.get("generation"):
        meta["generation"] += 1


def gc_finalizers(strategy: Strategy, finalizers: list[str], options: Object) -> list[str]:
    """Return the finalizers of an object after the deletion policy added or removed those of garbage collection."""
    if strategy.default_gc == "Unsupported":
        return [name for name in finalizers if name not in {_ORPHAN, _FOREGROUND}]
    policy = options.get("propagationPolicy")
    orphan_dependents = options.get("orphanDependents")
    if orphan_dependents is not None:
        wanted = _ORPHAN if orphan_dependents else ""
    elif policy is not None:
        wanted = {"Orphan": _ORPHAN, "Foreground": _FOREGROUND}.get(policy, "")
    elif _ORPHAN in finalizers:
        wanted = _ORPHAN
    elif _FOREGROUND in finalizers:
        wanted = _FOREGROUND
    else:
        wanted = _ORPHAN if strategy.default_gc == "Orphan" else ""
    kept = [name for name in finalizers if name not in {_ORPHAN, _FOREGROUND}]
    return [*kept, wanted] if wanted else kept


def _carry_out(services: Services, call: Call, target: Target, current: Current, marked: Marked) -> ObjectResult | None:
    """Store the mark or remove the object; None when another request changed it meanwhile."""
    served = target.served
    key = served.stored().key(target.namespace, target.name)
    if call.dry_run:
        return _answer(target, marked, current.revision)
    revision = current.revision
    written: Writing | None = None
    if marked.written:
        value = stored.encode(served, marked.obj)
        with stored.writing(served, value, marked.obj) as written:
            result = services.store.txn([Compare(key, revision)], [Put(key, value, current.lease)])
        if not result.succeeded:
            return None
        revision = result.revision
        stored.with_version(marked.obj, revision)
    if marked.gone:
        result = services.store.txn([Compare(key, revision)], [Remove(key)])
        if not result.succeeded:
            # Who has seen the mark, as a kubelet does, may have removed the object before: it is gone, as was wanted.
            is_gone = written is not None and services.store.get(key) is None
            return _answer(target, marked, revision) if is_gone else None
        revision = result.revision
        served.strategy.after_delete(call, marked.obj)
    return _answer(target, marked, revision, written)


def _answer(target: Target, marked: Marked, revision: int, written: Writing | None = None) -> ObjectResult:
    """Return the answer; `written` is the mark as it was stored, of which the answer's JSON is known."""
    served = target.served
    if not marked.gone or served.strategy.returns_deleted_object:
        body, cached = stored.answer_bytes(served, written, revision) if written is not None else (b"", None)
        return ObjectResult(served, stored.with_version(marked.obj, revision), body=body, written=cached)
    resource = served.group_resource
    return success(resource, target.name, uid=marked.obj["metadata"]["uid"])
