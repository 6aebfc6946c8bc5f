"""Patch: JSON patch, merge patch, strategic merge patch and server-side apply.

Source: kubernetes apiserver ``pkg/endpoints/handlers/patch.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import Any

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.results import ObjectResult
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.resources.known_metadata import KnownStatus
from hyperkube_host.apiserver.resources.served import Codec
from hyperkube_host.apiserver.rest import stored
from hyperkube_host.apiserver.rest.change import Change, change
from hyperkube_host.apiserver.rest.create import place
from hyperkube_host.apiserver.rest.options import create_options, refuse
from hyperkube_host.apiserver.rest.patch_text import converter_text, go_text, touched
from hyperkube_host.apiserver.rest.services import Services
from hyperkube_host.apiserver.rest.untouched import NOTHING, Untouched, decoded, untouched
from hyperkube_host.apiserver.rest.update import check_name
from hyperkube_host.apiserver.serializer import negotiation
from hyperkube_host.apiserver.serializer.decode import check_size, scheme_of, unregistered, validation_mode
from hyperkube_lib.serving.json import JsonError, duplicate_fields, is_writable, loads, may_have_duplicates

from hyperkube.machinery.errors import BadRequest, Invalid, NotFound
from hyperkube.machinery.field import Path, forbidden, invalid
from hyperkube.machinery.groups import GroupKind, GroupVersion, GroupVersionKind
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.patch.merge import apply_merge_patch
from hyperkube.machinery.patch.refusal import PatchRejected, json_type, shown
from hyperkube.machinery.schema import DecodeError, TypeInfo
from hyperkube.machinery.schema.strict import MOST_ERRORS

JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH = negotiation.PATCH_TYPES
_CUSTOM_TYPES = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
_OPERATION_MEMBERS = frozenset({"op", "path", "from", "value"})


def patch(services: Services, request: ApiRequest, target: Target) -> ObjectResult:
    """Answer a PATCH of an object or of a part of it."""
    patch_type = type_of(request, target)
    if patch_type == APPLY_PATCH:
        return _apply()(services, request, target)
    options = create_options(request, "PatchOptions")
    if request.query.get("force"):
        refuse("PatchOptions", [forbidden(Path("force"), "may not be specified for non-apply patch")])
    served = target.served
    current = stored.read(services.store, served, target.namespace, target.name, assume=True)
    if current is None:
        raise NotFound.about(served.group_resource, target.name)
    with request.reading():
        content = read_patch(request, patch_type)
    call = services.call(request, target)

    def produce(old: Object) -> Object:
        with request.stoppable():
            new = patched(services, request, target, served.codec, patch_type, content, served.blanks.shown(old))
        place(new, target)
        check_name(new, target.name)
        return new

    write = Change(
        request=request,
        target=target,
        call=call,
        produce=produce,
        options=options,
        keeps=True,
        unconditional=True,
        written=lambda old: _patched_document(served.codec, patch_type, content, served.blanks.shown(old)),
    )
    return change(services, write, current)


def type_of(request: ApiRequest, target: Target) -> str:
    """Return the media type of a request's patch; custom resources know no strategic one."""
    allowed = _CUSTOM_TYPES if target.served.custom else negotiation.PATCH_TYPES
    return negotiation.patch_type(request.headers.get("content-type", ""), allowed)


def read_patch(request: ApiRequest, patch_type: str) -> Any:
    """Return the patch as JSON.

    Raises:
        BadRequest: it is none, or null where that has no meaning.
    """
    if request.content is not None:
        return request.content
    check_size(request.body)
    try:
        content = loads(request.body)
    except JsonError as error:
        raise BadRequest(str(error) if patch_type == STRATEGIC_PATCH else f"error decoding patch: {error}") from error
    if content is None and patch_type == MERGE_PATCH:
        raise BadRequest("Invalid JSON Patch")
    return {} if content is None and patch_type == STRATEGIC_PATCH else content


def patched(
    services: Services, request: ApiRequest, target: Target, codec: Codec, patch_type: str, content: Any, old: Object
) -> Object:
    """Return the object that a patch makes of `old`, decoded, in canonical form and defaulted."""
    complaints = _duplicates(request, content)
    if patch_type == JSON_PATCH:
        complaints = [f"json patch {text}" for text in complaints] + _operation_complaints(content)
    document = _patched_document(codec, patch_type, content, old)
    _keep_reset_of_managers(document)

    def describe() -> str:
        if patch_type == STRATEGIC_PATCH:
            return shown(content)
        return go_text(document, None if target.served.custom else touched(patch_type, content))

    if isinstance(document, dict):
        _check_kind(services, target, document, describe)
    kept = NOTHING if target.served.custom else untouched(content, document, old, codec)
    if patch_type == STRATEGIC_PATCH or target.served.custom:
        words = converter_text if patch_type == STRATEGIC_PATCH else str
        return decode_patched(request, codec, document, complaints, describe, words, kept=kept)
    return decode_patched(
        request, codec, document, complaints, describe, ordered=lambda: loads(describe().encode()), kept=kept
    )


def _patched_document(codec: Codec, patch_type: str, content: Any, old: Object) -> Any:
    if patch_type == JSON_PATCH:
        document = _json_patch()(old, content)
        if not is_writable(document):
            raise PatchRejected("exceeded max depth")
        return document
    if patch_type == MERGE_PATCH:
        return apply_merge_patch(old, content)
    document = _strategic_patch()(old, content, codec.type)
    document["kind"], document["apiVersion"] = old["kind"], old["apiVersion"]  # those of a patch count for nothing
    return document


@cache
def _apply() -> Callable[[Services, ApiRequest, Target], ObjectResult]:
    from hyperkube_host.apiserver.rest.apply import apply  # each kind of patch when the first one comes

    return apply


@cache
def _json_patch() -> Callable[[Object, Any], Any]:
    from hyperkube.machinery.patch.json_patch import apply_json_patch

    return apply_json_patch


@cache
def _strategic_patch() -> Callable[[Object, Any, TypeInfo], Object]:
    from hyperkube_host.apiserver.rest.strategic_patch import apply_strategic_patch  # a cluster starts without

    return apply_strategic_patch


def _keep_reset_of_managers(document: Any) -> None:
    """Write an empty list of managers, which resets them, as the one entry without content that decoding keeps."""
    meta = document.get("metadata") if isinstance(document, dict) else None
    if isinstance(meta, dict) and meta.get("managedFields") == []:
        document["metadata"] = {**meta, "managedFields": [{}]}


def _check_kind(services: Services, target: Target, document: Object, describe: Callable[[], str]) -> None:
    """Refuse a patch that changes what kind of object it is: by what comes of reading it as that."""
    kind = target.kind
    for member in ("apiVersion", "kind"):
        value = document.get(member)
        if value is not None and not isinstance(value, str):
            why = f"json: cannot unmarshal {json_type(value)} into Go struct field .{member} of type string"
            raise _rejected(describe(), f"couldn't get version/kind; json parse error: {why}")
    name, api_version = document.get("kind") or kind.kind, document.get("apiVersion") or kind.api_version
    if (name, api_version) == (kind.kind, kind.api_version) or target.served.custom:
        return
    try:
        version = GroupVersion.parse(str(api_version))
    except ValueError as error:
        raise _rejected(describe(), str(error)) from error
    other = services.registry.by_kind(GroupVersionKind(version.group, version.version, str(name)))
    if other is None:
        unknown = GroupVersionKind(version.group, version.version, str(name))
        raise _rejected(describe(), unregistered(unknown, scheme_of(kind.group)))
    try:
        other.codec.decode(copy_object(document), report=False)
    except DecodeError as error:
        raise _rejected(describe(), str(error)) from error
    raise _rejected(describe(), f"unable to convert a {name} to a {kind.kind}")


def _rejected(described: str, why: str) -> Invalid:
    return Invalid.about(GroupKind("", ""), "", [invalid(Path("patch"), described, why)])


def decode_patched(
    request: ApiRequest,
    codec: Codec,
    document: Any,
    complaints: list[str],
    describe: Callable[[], str],
    words: Callable[[DecodeError], str] = str,
    ordered: Callable[[], Any] | None = None,
    kept: Untouched = NOTHING,
) -> Object:
    """Return a patched document as an object; what a patch brought that does not fit is refused in its own words.

    Unknown fields are told in the order of the document, or of what `ordered` makes of it. Those in `kept` are not
    decoded.

    Raises:
        Invalid: the document does not decode, or has unknown fields where that is strictly forbidden.
    """
    mode = validation_mode(request)
    try:
        obj, unknown = decoded(codec, document, kept, report=mode != "Ignore")
    except DecodeError as error:
        raise _rejected(describe(), words(error)) from error
    if len(unknown) > 1 and ordered is not None:
        unknown = codec.decode(ordered())[1]
    complaints = [*complaints, *unknown]
    if complaints and mode == "Strict":
        raise _rejected(describe(), f"strict decoding error: {', '.join(complaints)}")
    for text in complaints if mode == "Warn" else ():
        request.warn(text)
    if request.info.subresource == "status":
        request.status = KnownStatus(obj.get("status"))
    if not obj.keys() <= kept.whole.keys() | {"metadata"}:  # else no more than metadata is new, which has no defaults
        codec.default(obj)
    return obj


def _duplicates(request: ApiRequest, content: Any) -> list[str]:
    """Return the texts for duplicate members of a patch."""
    if request.content is not None or validation_mode(request) == "Ignore":
        return []
    return duplicate_fields(request.body) if may_have_duplicates(request.body, content) else []


def _operation_complaints(content: Any) -> list[str]:
    """Return the texts for unknown members of the operations of a JSON patch."""
    if not isinstance(content, list):
        return []
    complaints = (
        f'json patch unknown field "[{index}].{member}"'
        for index, operation in enumerate(content)
        if isinstance(operation, dict)
        for member in operation
        if member not in _OPERATION_MEMBERS
    )
    return list(islice(complaints, MOST_ERRORS))
