"""Server-side apply: creates what is not there, merges by field ownership what is.

Source: kubernetes apiserver ``pkg/endpoints/handlers/patch.go`` (applyPatcher).
"""

from __future__ import annotations

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import flag
from hyperkube_host.apiserver.request.results import ObjectResult
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.rest import stored
from hyperkube_host.apiserver.rest.change import Change, change
from hyperkube_host.apiserver.rest.create import place, store_new
from hyperkube_host.apiserver.rest.options import create_options, refuse
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_host.apiserver.rest.update import check_name
from hyperkube_host.apiserver.serializer.decode import check_size, parsed, validation_mode
from hyperkube_host.apiserver.serializer.document import Document, as_warnings, read_yaml

from hyperkube.machinery.codecs.yaml import YamlError
from hyperkube.machinery.errors import BadRequest, Conflict, NotFound
from hyperkube.machinery.field import Path, required
from hyperkube.machinery.groups import GroupVersion, GroupVersionKind
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.patch import refusal
from hyperkube.machinery.schema.mismatch import TypeMismatch, shown


def apply(services: Services, request: ApiRequest, target: Target) -> ObjectResult:
    """Answer an apply patch of an object or of a part of it."""
    options = create_options(request, "PatchOptions")
    force = flag(request.query, "force")
    _insist_on_manager(request)
    with request.stoppable():
        document = _read(request)
    served = target.served
    _check(served.kind, document)
    if stored.read(services.store, served, target.namespace, target.name) is None:
        if target.sub is not None:
            raise NotFound.about(served.group_resource, target.name)
        return _create(services, request, target, document, options)
    call = services.call(request, target)

    def produce(old: Object) -> Object:
        with request.stoppable():
            new = _merge(services, request, target, old, document, force=force)
        place(new, target)
        check_name(new, target.name)
        return new

    return change(
        services,
        Change(
            request=request,
            target=target,
            call=call,
            produce=produce,
            options=options,
            unconditional=True,
            track=False,
        ),
    )


def read_applied(request: ApiRequest, kind: GroupVersionKind) -> Object:
    """Return the configuration of an apply to a part that has a kind of its own (``/scale``).

    Raises:
        BadRequest: it is of another kind.
        Invalid: the request names no field manager.
    """
    _insist_on_manager(request)
    document = _read(request)
    _check(kind, document)
    applied: Object = document.value
    return applied


def _insist_on_manager(request: ApiRequest) -> None:
    if not request.param("fieldManager"):
        refuse("PatchOptions", [required(Path("fieldManager"), "is required for apply patch")])


def _read(request: ApiRequest) -> Document:
    if request.content is not None:
        return parsed(copy_object(request.content))
    check_size(request.body)
    try:
        document = read_yaml(request.body)
    except YamlError as error:
        raise BadRequest(f"error decoding YAML: error converting YAML to JSON: {error}") from error
    if document.value is None:
        document.value = {}
    if not isinstance(document.value, dict):
        mismatch = TypeMismatch(shown(document.value), "map[string]interface {}")
        raise BadRequest(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {mismatch}")
    return document


def _check(expected: GroupVersionKind, document: Document) -> None:
    """Refuse a document of another kind, or one that does not say of which.

    Source: kubernetes apimachinery ``pkg/util/managedfields/internal/versioncheck.go``.

    Raises:
        BadRequest: it is.
        PatchFailed: its metadata are no object.
    """
    applied: Object = document.value
    texts = (applied.get("apiVersion"), applied.get("kind"))
    api_version, kind = (text if isinstance(text, str) else "" for text in texts)
    if (api_version, kind) != (expected.api_version, expected.kind):
        version = ("" if "/" in api_version else "/") + api_version if api_version.count("/") < 2 else "/"
        raise BadRequest(f"invalid object type: {version}, Kind={kind}")
    meta = applied.get("metadata")
    if meta is None:
        applied["metadata"] = {}
    elif not isinstance(meta, dict):
        group, number = GroupVersion.parse(expected.api_version)
        got = f"expected map, got &{{{refusal.shown(meta)}}}"
        raise refusal.PatchFailed(
            f"failed to create typed patch object (/; {group}/{number}, Kind={kind}): .metadata: {got}"
        )


def _merge(
    services: Services, request: ApiRequest, target: Target, old: Object | None, document: Document, *, force: bool
) -> Object:
    """Return what applying the document makes of `old`.

    Only then its duplicate keys are told: a field that the schema does not have fails the merge itself, in every mode.

    Raises:
        BadRequest: keys are duplicate where that is strictly forbidden.
    """
    new = services.ownership.apply(request, target, old, copy_object(document.value), force=force)
    mode = validation_mode(request)
    duplicates = document.yaml_errors if mode != "Ignore" else []
    if duplicates and mode == "Strict":
        raise BadRequest(f"error strict decoding YAML: {duplicates[0]}")
    for text in as_warnings(duplicates):
        request.warn(text)
    return new


def _create(
    services: Services, request: ApiRequest, target: Target, document: Document, options: Object
) -> ObjectResult:
    """Create what the document describes.

    Raises:
        Conflict: it names the uid of an object, and there is none.
        BadRequest: it has another name than the path, or none.
        NotFound: it names a resourceVersion.
    """
    new = _merge(services, request, target, None, document, force=False)
    meta = document.value["metadata"]
    if uid := meta.get("uid"):
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise Conflict.about(target.served.group_resource, target.name, why)
    place(new, target)
    check_name(new, target.name)
    if meta.get("resourceVersion"):
        raise NotFound.about(target.served.group_resource, target.name)
    call = services.call(request, target, body=new, verb="create")
    return store_new(services, request, target, call, new, options={**options, "kind": "PatchOptions"})
