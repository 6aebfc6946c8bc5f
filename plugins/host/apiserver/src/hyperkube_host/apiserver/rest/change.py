"""Change: the compare-and-swap that updates, patches and writes to parts of an object go through.

Every attempt starts from what is stored and runs the whole sequence again: produce the new object, mutate, default,
prepare, validate. Source of the order: kubernetes apiserver ``pkg/registry/generic/registry/store.go`` (Update),
``pkg/registry/rest/update.go`` (BeforeUpdate).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hyperkube_host.apiserver.admission.chain import undo
from hyperkube_host.apiserver.admission.shared_members import end_sharing, part_members, share
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.results import ObjectResult
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.resources.known_metadata import KnownMetadata, KnownStatus
from hyperkube_host.apiserver.rest import metadata, stored
from hyperkube_host.apiserver.rest.create import place
from hyperkube_host.apiserver.rest.emptied import as_written
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_host.apiserver.rest.stored import Current
from hyperkube_lib.structured_merge import managed_fields

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, Conflict, Invalid, NotFound, ServerTimeout
from hyperkube.machinery.field import FieldError, Path, invalid
from hyperkube.machinery.groups import GroupKind
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.storage.store import Compare, Delete, Put

_ATTEMPTS = 50
_NEVER_COUNTED = frozenset({"metadata", "kind", "apiVersion"})
_WRITTEN_WITH_STATUS = frozenset({"kind", "apiVersion", "metadata", "status"})
_MISSING = object()

Produce = Callable[[Object], Object]
"""Gets a copy of the current object and returns the new one, in canonical form and defaulted by its schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One write to an existing object.

    Attributes:
        produce: see `Produce`; called once per attempt.
        options: the request's UpdateOptions or PatchOptions.
        keeps: whether `produce` leaves what it gets alone, so that it needs no copy; what it returns may have members
            of it, but for metadata.
        unconditional: whether the new object may lack a resourceVersion although the resource demands one (patches).
        admit: whether admission plugins see the change.
        prepare: whether the strategy prepares and validates the new object; else it is stored as produced.
        written: gives the document that the client wrote, from the current object; for refusals (see `emptied`).
        track: whether the change of ownership is tracked (server-side apply has done it itself).
    """

    request: ApiRequest
    target: Target
    call: Call
    produce: Produce
    options: Object
    keeps: bool = False
    unconditional: bool = False
    admit: bool = True
    prepare: bool = True
    track: bool = True
    written: Callable[[Object], Any] | None = None


def change(services: Services, write: Change, current: Current | None = None) -> ObjectResult:
    """Carry out a write.

    Args:
        services: the server's.
        write: what to do.
        current: the object as it was read a moment ago, or is assumed to be, for the first attempt.

    Raises:
        NotFound: there is no such object.
        ServerTimeout: others were faster in too many attempts.
    """
    target = write.target
    for _ in range(_ATTEMPTS):
        current = current or stored.read(services.store, target.served, target.namespace, target.name)
        if current is None:
            raise NotFound.about(target.served.group_resource, target.name)
        try:
            result = _attempt(services, write, current)
        except ApiError:
            if not current.assumed:
                raise
            result = None  # it may have been refused for what is not so any more
        if result is not None:
            return result
        current = None
    raise ServerTimeout(
        f"The {write.call.verb} operation against {target.served.group_resource} could not be completed at this "
        "time, please try again."
    )


def _attempt(services: Services, write: Change, current: Current) -> ObjectResult | None:
    """Return the result, or None when another request changed the object meanwhile, or may have."""
    old, target = current.obj, write.target
    new = write.produce(old if write.keeps else copy_object(old))
    check_version(write, new, old)
    metadata.keep_system_fields(new["metadata"], old["metadata"])
    target.served.default(new)
    if write.track:
        services.ownership.update(write.request, target, old, new)
    known = KnownMetadata(new["metadata"])
    admission = services.admission_request(
        write.call, target, "UPDATE", obj=new, old=old, options=write.options, annotations=write.request.annotations
    )
    if write.keeps:
        share(admission)
    if write.admit:
        services.admission.mutate(admission)
    try:
        new = admission.written()
        is_shared = end_sharing(admission)
        if is_shared and not _leaves_alone(target):
            part_members(new, old)
        place(new, target)
        if write.prepare:
            new = _prepare(target, write.call, new, old, known, write.request.status, is_same=is_shared)
            _refuse_invalid(write, new, old)
        else:
            new = target.served.canonical_change(new, old, known)
        if write.admit:
            admission.object = new
            services.admission.validate(admission)
        result = store_change(services, target, write.call, current, new)
    except ApiError:
        undo(admission)
        raise
    if result is None or write.call.dry_run:
        undo(admission)
    return result


def _leaves_alone(target: Target) -> bool:
    """Tell whether the strategy does nothing to members that stayed as they were, so that they need no copies."""
    sub = target.sub
    return target.served.strategy.leaves_what_stays and (sub is None or sub.name == "status")


def _is_changed(new: Object, old: Object) -> bool:
    """Tell whether more than metadata differs."""
    for name, value in new.items():
        before = old.get(name)
        if value is not before and name != "metadata" and value != before:
            return True
    return new.keys() != old.keys()


def check_version(write: Change, new: Object, old: Object) -> None:
    """Compare the resourceVersion and uid that a client expects with what is stored.

    Raises:
        Conflict: they differ.
        Invalid: the resource insists on a resourceVersion and there is none.
    """
    target, meta, before = write.target, new.setdefault("metadata", {}), old["metadata"]
    uid = meta.get("uid")
    if uid and uid != before.get("uid") and not write.unconditional:
        raise uid_conflict(target, uid, before.get("uid", ""))
    expected = meta.get("resourceVersion") or ""
    if not expected and not (target.served.strategy.allow_unconditional_update or write.unconditional):
        error = invalid(Path("metadata").child("resourceVersion"), 0, "must be specified for an update")
        kind = GroupKind(target.served.group_resource.group, target.served.group_resource.resource)
        raise Invalid.about(kind, target.name, [error])
    if expected and expected not in {before["resourceVersion"], "0"}:
        raise Conflict.about(target.served.group_resource, target.name)
    meta["resourceVersion"] = before["resourceVersion"]


def uid_conflict(target: Target, expected: str, actual: str) -> Conflict:
    """Return the error for an update that names another object's uid."""
    key = target.served.stored().key(target.namespace, target.name)
    why = (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition "
        f"failed: UID in precondition: {expected}, UID in object meta: {actual}"
    )
    return Conflict.about(target.served.group_resource, target.name, why)


def _strategy(target: Target) -> Strategy:
    sub = target.sub
    return sub.strategy if sub is not None and sub.strategy is not None else target.served.strategy


def _prepare(
    target: Target,
    call: Call,
    new: Object,
    old: Object,
    known: KnownMetadata,
    status: KnownStatus | None,
    *,
    is_same: bool,
) -> Object:
    """Return the new object in canonical form with everything that the server decides.

    Of it `known` is the metadata before admission, and `status` what was decoded, of a write to it; `is_same` tells
    that no plugin was called that could have changed it.
    """
    served, strategy = target.served, target.served.strategy
    if not is_same and (not known.holds(new["metadata"]) or _is_changed(new, old)):
        served.default(new)  # else there is nothing new to fill in since it was
    if target.sub is None:
        if strategy.status_subresource:
            _restore(new, old, "status", shared=strategy.leaves_what_stays)
        strategy.prepare_update(call, new, old)
    elif target.sub.name == "status":
        for name in {**new, **old}:
            if name not in _WRITTEN_WITH_STATUS:
                _restore(new, old, name, shared=not served.custom)
        if "metadata" in strategy.reset_fields.get("status", ()):
            is_known = known.holds(new["metadata"])
            metadata.keep_for_status(new["metadata"], old["metadata"])
            known = KnownMetadata(new["metadata"]) if is_known else known
        _strategy(target).prepare_status_update(call, new, old)
    else:
        _strategy(target).prepare_update(call, new, old)
    prepared = served.canonical_change(new, old, known, status)
    is_status = target.sub is not None and target.sub.name == "status"
    if strategy.generation and not is_status and _counts(strategy, prepared, old):
        prepared["metadata"]["generation"] = (old["metadata"].get("generation") or 0) + 1
    return prepared


def _counts(strategy: Strategy, new: Object, old: Object) -> bool:
    """Tell whether ``metadata.generation`` counts the change of an object; what stayed is mostly the same object."""
    for name in new.keys() | old.keys():
        after, before = new.get(name, _MISSING), old.get(name, _MISSING)
        if after is before or name in _NEVER_COUNTED or (name == "status" and strategy.status_subresource):
            continue
        if after != before:
            return True
    return False


def _restore(new: Object, old: Object, name: str, *, shared: bool = False) -> None:
    """Put back what may not change; what nobody changes from now on may be `shared` with the old object."""
    if name in old:
        new[name] = copy_object(old[name]) if isinstance(old[name], dict) and not shared else old[name]
    else:
        new.pop(name, None)


def _refuse_invalid(write: Change, new: Object, old: Object) -> None:
    target, call = write.target, write.call
    strategy, served = _strategy(target), target.served
    is_status = target.sub is not None and target.sub.name == "status"
    validate = strategy.validate_status_update if is_status else strategy.validate_update

    def check(obj: Object) -> list[FieldError]:
        errors = metadata.validate_update(obj, old, strategy=served.strategy, status=is_status)
        return errors + validate(call, obj, old)

    errors = check(new)
    written = write.written
    if errors and written is not None:
        errors = as_written(errors, new, lambda: written(old), check)
    if errors:
        kind = metadata.internal_kind(served.kind.group_kind, served.strategy)
        kind = kind._replace(kind=str(new["kind"])) if served.custom else kind  # a patch may have made it another
        raise Invalid.about(kind, new["metadata"].get("name") or "", errors)
    if not is_status:
        call.warnings[:] = dict.fromkeys((*call.warnings, *strategy.warnings(call, new, old)))


def ends(strategy: Strategy, obj: Object) -> bool:
    """Tell whether an object that is being deleted has nothing left to wait for."""
    meta = obj["metadata"]
    return bool(
        meta.get("deletionTimestamp")
        and not meta.get("finalizers")
        and not meta.get("deletionGracePeriodSeconds")
        and not strategy.blocks_deletion(obj)
    )


def _is_written_anyway(services: Services, target: Target) -> bool:
    """Tell whether an update that changes nothing is stored all the same: once, for some resources."""
    if not target.served.strategy.rewritten_once:
        return False
    item = services.store.get(target.served.stored().key(target.namespace, target.name))
    return item is not None and item.version == 1


def store_change(services: Services, target: Target, call: Call, current: Current, new: Object) -> ObjectResult | None:
    """Store what became of an object, unless nothing did; return None when another request was faster."""
    served, old = target.served, current.obj
    new = served.as_stored(new, old)
    managed_fields.keep_times_of(old, new)
    gone = ends(served.strategy, new)
    if current.assumed and (call.dry_run or new == old):
        return None  # nothing is written that would compare
    if new == old and not gone and not current.stale and not _is_written_anyway(services, target):
        return ObjectResult(served, stored.with_version(new, current.revision) if new is not old else old)
    if call.dry_run:
        return ObjectResult(served, stored.dry_run(served, new))
    key = served.stored().key(target.namespace, target.name)
    finish = served.strategy.begin_update(call, new, old)
    written = False
    try:
        value = stored.encode(served, new)
        operation = Delete(key) if gone else Put(key, value, current.lease)
        with stored.writing(served, value, new) as writing:
            result = services.store.txn([Compare(key, current.revision)], [operation])
        written = result.succeeded
    finally:
        if finish is not None:
            finish(written)
    if not written:
        return None
    if gone:
        served.strategy.after_delete(call, new)
        return ObjectResult(served, new)
    new = stored.answered(served, new, value, result.revision)
    body, cached = stored.answer_bytes(served, writing, result.revision)
    return ObjectResult(served, new, body=body, written=cached)
