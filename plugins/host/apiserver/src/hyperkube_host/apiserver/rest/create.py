"""Create: from a decoded body to a stored object.

Source of the order: kubernetes apiserver ``pkg/endpoints/handlers/create.go``,
``pkg/registry/generic/registry/store.go``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from hyperkube_host.apiserver.admission.chain import undo
from hyperkube_host.apiserver.admission.shared_members import before_changes
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.results import ObjectResult
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.resources.known_metadata import KnownMetadata, KnownObject, NewMetadata
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_host.apiserver.resources.template_text import metadata_text, template_text, text_of_made
from hyperkube_host.apiserver.rest import metadata, stored
from hyperkube_host.apiserver.rest.emptied import as_written
from hyperkube_host.apiserver.rest.options import create_options
from hyperkube_host.apiserver.rest.services import Services

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.hookspecs.api import Call
from hyperkube.machinery.errors import AlreadyExists, ApiError, BadRequest, InternalError, Invalid
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.groups import GroupKind
from hyperkube.machinery.objects import Object, is_being_deleted
from hyperkube.machinery.patch.refusal import json_type
from hyperkube.machinery.random import generate_name, unique_id
from hyperkube.storage.store import Compare, LeaseNotFound, Put

if TYPE_CHECKING:
    from hyperkube_host.apiserver.resources.echo import Echo

_NAME_ATTEMPTS = 8
_NOT_ON_CREATE = frozenset({"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"})
_SHORT = 16 * 1024
"""Bytes of a body up to which to write it once more is cheaper than to walk its object."""


def create(services: Services, request: ApiRequest, target: Target) -> ObjectResult:
    """Answer a POST to a collection."""
    options = create_options(request, "CreateOptions")
    served, template = target.served, b""
    echo: Echo | None = None
    if served.repeats:
        obj, template = services.decoder.decode_new(request, served)
        place(obj, target)
    elif served.is_plain:
        obj, echo = services.decoder.decode_plain(request, served)
        place(obj, target)
    else:
        obj = services.decoder.decode(request, served.kind, served.codec)
        place(obj, target)
        if served.completes:
            served.default(obj)
    call = services.call(request, target, body=obj)
    services.ownership.update(request, target, None, obj, echo.members if echo is not None else template)
    known: KnownObject | NewMetadata | None = None
    if template:
        known = NewMetadata(obj["metadata"], text_of_made(obj, template))
    elif served.is_plain and 0 < len(request.body) <= _SHORT:
        known = KnownObject(obj, echo)
    return store_new(services, request, target, call, obj, options=options, known=known)


def place(obj: Object, target: Target) -> None:
    """Put the object into the namespace of the path: that of the client, and again what admission has made of it.

    Raises:
        BadRequest: it says it belongs into another one.
        InternalError: admission has left no metadata.
    """
    meta = obj.get("metadata")
    if meta is None:
        meta = obj["metadata"] = {}
    if not isinstance(meta, dict):
        raise InternalError.because(f"json: cannot unmarshal {json_type(meta)} into Go value of type v1.ObjectMeta")
    own = meta.get("namespace") or ""
    if not target.namespace:
        meta.pop("namespace", None)
    elif own and own != target.namespace:
        raise BadRequest("the namespace of the provided object does not match the namespace sent on the request")
    else:
        meta["namespace"] = target.namespace


def store_new(
    services: Services,
    request: ApiRequest,
    target: Target,
    call: Call,
    obj: Object,
    *,
    options: Object,
    admit: bool = True,
    known: KnownObject | NewMetadata | None = None,
) -> ObjectResult:
    """Admit (unless told not to), complete, validate and store a new object; retry when a generated name is taken.

    Of a new object as it was decoded `known` may be what it is then, or its template, else its metadata is.
    """
    template = obj if obj["metadata"].get("name") else None
    what_is_known = known or NewMetadata(obj["metadata"])
    for attempt in range(1, _NAME_ATTEMPTS + 1):
        try:
            return _attempt(services, request, target, call, obj, what_is_known, options=options, admit=admit)
        except AlreadyExists:
            if template is not None or attempt == _NAME_ATTEMPTS:
                raise
            obj["metadata"].pop("name", None)
            if isinstance(what_is_known, NewMetadata):
                what_is_known.text = None
    raise AssertionError("unreachable: the last attempt returns or raises")


def _attempt(
    services: Services,
    request: ApiRequest,
    target: Target,
    call: Call,
    obj: Object,
    known: NewMetadata | KnownObject,
    *,
    options: Object,
    admit: bool,
) -> ObjectResult:
    served = target.served
    admission = services.admission_request(
        call,
        Target(served, target.namespace, target.name or obj["metadata"].get("name") or ""),
        "CREATE",
        obj=obj,
        options=options,
        annotations=request.annotations,
    )
    before_changes(admission, known)
    if admit:
        services.admission.mutate(admission)
    try:
        if not (isinstance(known, KnownObject) and known.is_left):
            place(admission.written(), target)
        obj, template = _prepared(services, request, target, call, admission.written(), known)
        admission.object, admission.name = obj, obj["metadata"]["name"]
        if admit:
            services.admission.validate(admission)
        return _store(services, target, call, obj, template, known.echo)
    except ApiError:
        undo(admission)
        raise


def _prepared(
    services: Services,
    request: ApiRequest,
    target: Target,
    call: Call,
    obj: Object,
    known: NewMetadata | KnownObject,
) -> tuple[Object, bytes]:
    """Return the object as it is to be stored, and check it; what is known of the last one of its template is taken.

    With it comes the text of its template, where that is known.

    Raises:
        Invalid: it is wrong.
    """
    served = target.served
    if isinstance(known, KnownObject):
        if known.holds(obj):
            _set_metadata(services, target, call, obj["metadata"])
            obj["metadata"] = served.in_order("metadata", obj["metadata"])
            obj = {"kind": served.kind.kind, "apiVersion": served.kind.api_version, **obj}
        else:
            known.echo = None
            served.default(obj)
            obj = prepare(services, target, call, obj)
        _refuse_invalid(services, request, target, obj, call)
        return obj, b""
    text = known.text
    if text is None and served.repeats and known.holds(obj["metadata"]):
        text = template_text(obj)
    if text is not None and (prepared := served.prepared.get(text)) is not None:
        _set_metadata(services, target, call, obj["metadata"])
        common, known.text = prepared
        made: Object = orjson.loads(common)
        made["metadata"] = served.in_order("metadata", obj["metadata"])
        _refuse_invalid(services, request, target, made, call, is_checked=True)
        return made, text
    known.text = None  # the object becomes another
    before, warned = metadata_text(obj["metadata"]) if text is not None else b"", len(call.warnings)
    if served.completes or not known.is_left:
        served.default(obj)  # else there is nothing new to fill in since it was decoded
    obj = prepare(services, target, call, obj, known)
    is_silent = len(call.warnings) == warned
    _refuse_invalid(services, request, target, obj, call)
    if text is not None and is_silent and metadata_text(obj["metadata"]) == before:
        _keep(served, text, obj)
    return obj, b""


def _keep(served: ServedResource, text: bytes, obj: Object) -> None:
    """Keep what became of an object for the others of its template, if they come and are treated and stored alike."""
    if served.prepared.recurs(text) and served.strategy.repeats(obj) and served.as_stored(obj) is obj:
        served.prepared.keep(text, (orjson.dumps({**obj, "metadata": None}), template_text(obj) or b""))


def prepare(services: Services, target: Target, call: Call, obj: Object, known: KnownMetadata | None = None) -> Object:
    """Return the object, canonical, with everything that the server sets; `known` is its metadata before admission."""
    served, strategy = target.served, target.served.strategy
    meta = obj["metadata"]
    is_known = known is not None and known.holds(meta)
    _set_metadata(services, target, call, meta)
    if strategy.status_subresource and not strategy.keeps_status_on_create:
        obj.pop("status", None)
    known = KnownMetadata(meta) if is_known else None
    strategy.prepare_create(call, obj)
    return served.canonical(obj, known)


def _set_metadata(services: Services, target: Target, call: Call, meta: Object) -> None:
    """Set what the server gives every new object.

    Raises:
        ApiError: the client has set a resourceVersion.
    """
    strategy = target.served.strategy
    if meta.get("resourceVersion") and not call.dry_run:
        raise ApiError("resourceVersion should not be set on objects to be created")
    if not _NOT_ON_CREATE.isdisjoint(meta):
        for member in _NOT_ON_CREATE:
            meta.pop(member, None)
    if strategy.generation:
        meta["generation"] = 1
    meta["uid"] = unique_id(services.random)
    meta["creationTimestamp"] = services.seconds.text()
    if meta.get("generateName") and not meta.get("name"):
        meta["name"] = named = meta["generateName"]
        if strategy.generates_names:
            meta["name"] = generate_name(services.random, named)


def _refuse_invalid(
    services: Services, request: ApiRequest, target: Target, obj: Object, call: Call, *, is_checked: bool = False
) -> None:
    """Refuse a wrong object, of which all but the metadata may be checked already; tell what is unwise."""
    served, strategy = target.served, target.served.strategy
    errors = [] if is_checked else strategy.validate(call, obj)
    errors = metadata.validate_create(obj, namespaced=served.spec.namespaced, strategy=strategy) + errors
    if errors:
        raise _invalid(services, request, target, obj, call, errors)
    texts = [*strategy.warnings(call, obj, None), *_unattended(services, target, obj)]
    if texts:
        call.warnings[:] = dict.fromkeys((*call.warnings, *texts))


def _invalid(
    services: Services, request: ApiRequest, target: Target, obj: Object, call: Call, errors: list[FieldError]
) -> Invalid:
    """Return the refusal of a wrong object, of which the errors tell as the client wrote it."""
    served, strategy = target.served, target.served.strategy

    def check(new: Object) -> list[FieldError]:
        errors = metadata.validate_create(new, namespaced=served.spec.namespaced, strategy=strategy)
        return errors + strategy.validate(call, new)

    errors = as_written(errors, obj, lambda: services.decoder.written(request, served.kind, served.codec), check)
    kind = metadata.internal_kind(served.kind.group_kind, strategy)
    return Invalid.about(GroupKind(kind.group, obj.get("kind") or kind.kind), obj["metadata"].get("name") or "", errors)


def _unattended(services: Services, target: Target, obj: Object) -> list[str]:
    """Say so when nothing will ever act on the object: ``--unattended-resources`` lists what has no controller."""
    unattended = services.options.admission.unattended_resources
    if not unattended:
        return []
    resource = target.served.spec.resource.group_resource
    if str(resource) in unattended:
        return [f"no controller for {resource.resource} is installed: nothing will act on this object"]
    kind = str((obj.get("spec") or {}).get("type", "")) if str(resource) == "services" else ""
    if kind and f"services/{kind}" in unattended:
        return [f"nothing in this cluster gives a Service of type {kind} its external address: use its node port"]
    return []


def _store(
    services: Services, target: Target, call: Call, obj: Object, template: bytes, echo: Echo | None
) -> ObjectResult:
    served = target.served
    storage = served.stored()
    if not template:  # else that is known to leave it as it is
        obj = served.as_stored(obj)
    name = obj["metadata"]["name"]
    key = storage.key(target.namespace, name)
    if call.dry_run:
        if services.store.get(key) is not None:
            raise _taken(services, target, name)
        return ObjectResult(served, stored.dry_run(served, obj), status=201)
    finish = served.strategy.begin_create(call, obj)
    written = False
    try:
        value = stored.encode(served, obj)
        with stored.writing(served, value, obj) as writing:
            result = services.store.txn([Compare(key, 0)], [Put(key, value, _lease(services, target))])
        if not result.succeeded:
            raise _taken(services, target, name)
        written = True
    except LeaseNotFound as error:
        services.leases.forget(error)
        raise
    finally:
        if finish is not None:
            finish(written)
    obj = stored.answered(served, obj, value, result.revision)
    body, cached = stored.answer_bytes(served, writing, result.revision)
    return ObjectResult(served, obj, status=201, body=body, written=cached, template=template, echo=echo)


def _lease(services: Services, target: Target) -> int:
    lifetime = target.served.spec.ttl_seconds
    return services.leases.lease(lifetime(services.api)) if lifetime is not None else 0


def _taken(services: Services, target: Target, name: str) -> AlreadyExists:
    resource = target.served.group_resource
    error = AlreadyExists.about(resource, name)
    current = stored.read(services.store, target.served, target.namespace, name)
    if current is not None and is_being_deleted(current.obj):
        return AlreadyExists(f"object is being deleted: {error.message}", details=error.details)
    return error


def admit_virtual(services: Services, call: Call, target: Target, obj: Object, options: Object) -> AdmissionRequest:
    """Let the admission plugins see the creation of a virtual resource or the use of a subresource."""
    admission = services.admission_request(call, target, "CREATE", obj=obj, options=options)
    services.admission.mutate(admission)
    try:
        services.admission.validate(admission)
    except ApiError:
        undo(admission)
        raise
    return admission
