"""From a request's body to an object of the expected kind, with Kubernetes' words for everything that can be wrong.

Source: kubernetes apimachinery ``pkg/runtime/serializer`` (json, protobuf, codec_factory), apiserver
``pkg/endpoints/handlers/create.go`` (transformDecodeError).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.resources.known_metadata import KnownStatus
from hyperkube_host.apiserver.resources.recurring import BUSY_TEMPLATES
from hyperkube_host.apiserver.resources.served import Codec, ServedResource
from hyperkube_host.apiserver.serializer import negotiation
from hyperkube_host.apiserver.serializer.document import Document, as_warnings, read_json, read_yaml
from hyperkube_lib.protobuf import Protobuf, ProtobufError, open_envelope
from hyperkube_lib.serving import json
from hyperkube_lib.serving.json import JsonError, summary

from hyperkube.machinery.codecs.yaml import YamlError
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, BadRequest, RequestEntityTooLarge
from hyperkube.machinery.groups import GroupVersion, GroupVersionKind
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.recent import TEMPLATE_MAX, Recent
from hyperkube.machinery.schema import CompiledSchema, DecodeError
from hyperkube.machinery.schema.mismatch import TypeMismatch

if TYPE_CHECKING:
    from hyperkube_host.apiserver.resources.echo import Echo
    from hyperkube_host.apiserver.serializer.echoed_messages import EchoedKind
    from hyperkube_host.apiserver.serializer.known_messages import NamedMessage

BODY_LIMIT = 3 * 1024 * 1024
_SHALLOW = 512
"""Bytes of a message up to which it cannot be too deep to be written as JSON."""
_HEAD = "couldn't get version/kind; json parse error: "
_SCHEME = "pkg/api/legacyscheme/scheme.go:30"
_SCHEMES = {
    "apiextensions.k8s.io": "k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55",
    "apiregistration.k8s.io": "k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28",
}
"""The schemes of the groups that servers of their own serve in Kubernetes: they know no kinds of other groups."""
_META_SCHEME = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"


@dataclass(frozen=True, slots=True)
class Kinds:
    """What is known about kinds: decides how a body of another kind is refused."""

    is_registered: Callable[[GroupVersionKind], bool]
    is_version_of: Callable[[GroupVersionKind, GroupVersionKind], bool]
    """Tells whether a kind is another in another version or group: the same internal type."""


def check_size(body: bytes) -> None:
    """Refuse a body that is too long.

    Raises:
        RequestEntityTooLarge: it is.
    """
    if len(body) > BODY_LIMIT:
        raise RequestEntityTooLarge(f"Request entity too large: limit is {BODY_LIMIT}")


def unrecognized(kind: GroupVersionKind, why: str, body: bytes) -> BadRequest:
    """Return the error for a body that is not even the beginning of an object."""
    return BadRequest(f"the object provided is unrecognized (must be of type {kind.kind}): {why} ({summary(body)})")


def validation_mode(request: ApiRequest) -> str:
    """Return the request's ``fieldValidation``."""
    return request.param("fieldValidation") or "Warn"


def unregistered(kind: GroupVersionKind, scheme: str = _SCHEME) -> str:
    """Return the text for a kind that Kubernetes' scheme of that name does not have."""
    return f'no kind "{kind.kind}" is registered for version "{kind.api_version}" in scheme "{scheme}"'


def scheme_of(group: str) -> str:
    """Return the name of the scheme that has the kinds of a group."""
    return _SCHEMES.get(group, _SCHEME)


def parsed(value: Any) -> Document:
    """Return a document that came parsed, from this process."""
    return Document(b"", value, is_yaml=True)


def canonical(value: Object, refusal: DecodeError | None = None) -> Document:
    """Return a document that came decoded, from protobuf, or why it cannot be."""
    return Document(b"", value, is_yaml=True, is_canonical=True, refusal=refusal)


class BodyDecoder:
    """Decodes bodies of requests; one per server."""

    def __init__(self, kinds: Kinds, protobuf: Protobuf) -> None:
        self._kinds = kinds
        self._protobuf = protobuf
        self._messages: Recent[tuple[str, int, int, bytes], bytes] = Recent(BUSY_TEMPLATES)
        """What the messages of a template decode to, with defaults, as JSON without name."""
        self._echoed: dict[object, EchoedKind | None] = {}
        """By their marks, what is known of plain kinds."""

    def decode(
        self,
        request: ApiRequest,
        kind: GroupVersionKind,
        codec: Codec,
        *,
        also: Sequence[GroupVersionKind] = (),
    ) -> Object:
        """Return the body as an object of `kind`, defaulted by its schema; warn of or refuse unknown fields.

        A body of one of the kinds `also` counts as one of `kind`.

        Raises:
            BadRequest: it cannot be decoded, or has unknown fields where that is strictly forbidden.
            RequestEntityTooLarge: it is too long.
            UnsupportedMediaType: its content type is not read here.
        """
        with request.reading():
            obj = self._shape(request, self._parse(request, kind, codec), kind, codec, also)
        if request.audit_event is not None:
            request.audit_event.log_request_object(obj)
        return obj

    def read(self, request: ApiRequest, served: ServedResource) -> Document:
        """Return the body of a request as it is written, before it is checked.

        Raises:
            ApiError: as `decode`, for what cannot be read.
        """
        with request.reading():
            return self._parse(request, served.kind, served.codec)

    def decode_new(self, request: ApiRequest, served: ServedResource) -> tuple[Object, bytes]:
        """Return the body as a new object with all its defaults: that of its template, if that is known.

        With it comes the JSON of all but its name, where that is what the object was made from, else nothing.

        Raises:
            ApiError: as `decode`.
        """
        if request.query or request.content is not None or request.inside or request.audit_event is not None:
            obj = self.decode(request, served.kind, served.codec)
            served.default(obj)
            return obj, b""
        with request.reading():
            message = self._cut(request, served)
            if message is not None and (known := self._messages.get(message.template)) is not None:
                return _named(known, message.name), known
            document = self._parse(request, served.kind, served.codec)
            text = document.template_text()
            known = served.arrived.get(text) if text is not None else None
            if known is not None:
                if message is not None and self._is_all_else(message, document, served):
                    self._messages.keep(message.template, known)
                return _named(known, document.value["metadata"].get("name")), known
            warned = len(request.warnings)
            obj = self._shape(request, document, served.kind, served.codec)
        served.default(obj)
        if text is not None and len(request.warnings) == warned and served.arrived.recurs(text):
            meta = {name: value for name, value in obj["metadata"].items() if name != "name"}
            served.arrived.keep(text, orjson.dumps({**obj, "metadata": meta}))
        return obj, b""

    def decode_plain(self, request: ApiRequest, served: ServedResource) -> tuple[Object, Echo | None]:
        """Return the body as a new object of a plain kind, to which nothing is added.

        With it comes what writes it as a message with other metadata, where that is known from how it came.

        Raises:
            ApiError: as `decode`.
        """
        if request.headers.get("content-type") == negotiation.PROTOBUF:
            try:
                echoed = self._echoed[served.mark]
            except KeyError:
                echoed = self._echoed[served.mark] = self._echoed_kind(served)
            budget = request.budget
            if echoed is not None and request.audit_event is None and (budget is None or not budget.is_over):
                found = echoed.read(request.body)
                if found is not None:
                    return found
        return self.decode(request, served.kind, served.codec), None

    def _echoed_kind(self, served: ServedResource) -> EchoedKind | None:
        from hyperkube_host.apiserver.serializer.echoed_messages import echoed_kind  # the first body asks for it

        return None if served.blanks else echoed_kind(served.kind, served.codec, self._protobuf)

    @staticmethod
    def _cut(request: ApiRequest, served: ServedResource) -> NamedMessage | None:
        """Return a body that is a message of the kind, cut behind its name; None for any other, and for a long one."""
        if request.headers.get("content-type") != negotiation.PROTOBUF or len(request.body) > TEMPLATE_MAX:
            return None
        return _cutting()(request.body, served.kind.api_version, served.kind.kind)

    def _is_all_else(self, message: NamedMessage, document: Document, served: ServedResource) -> bool:
        """Tell whether an object that was read is what the rest of its message says, and the name before that.

        Else there is another name in the rest, which counts, or metadata a second time.
        """
        if not isinstance(served.codec, CompiledSchema):
            return False
        rest = self._protobuf.read_message(message.unnamed, served.codec)
        meta = rest.get("metadata") or {}
        named = {**meta, "name": message.name} if message.name else meta
        said = {"kind": served.kind.kind, "apiVersion": served.kind.api_version, **rest, "metadata": named}
        return "name" not in meta and document.value == said

    def written(self, request: ApiRequest, kind: GroupVersionKind, codec: Codec) -> Any:
        """Return the body of a request once more as its client wrote it; none where it is no object (a patch)."""
        try:
            return self._parse(request, kind, codec).value
        except ApiError:
            return None

    def decode_shared(self, request: ApiRequest, kind: GroupVersionKind, codec: Codec) -> Object:
        """Return the body as an object of a kind that is registered in every group version (DeleteOptions).

        Its errors are the decoder's own, without a word about the kind that is wanted, and it is not read strictly.

        Raises:
            BadRequest: it cannot be decoded.
        """
        try:
            with request.reading():
                document = self._read(request, kind, codec)
            api_version, name = document.kind()
            version = GroupVersion.parse(api_version or kind.api_version)
        except (JsonError, TypeMismatch) as error:
            raise BadRequest(_HEAD + str(error)) from error
        except ValueError as error:  # YAML, protobuf, or a group version that is none
            raise BadRequest(str(error)) from error
        if name not in {"", kind.kind}:
            raise BadRequest(unregistered(GroupVersionKind(version.group, version.version, name), _META_SCHEME))
        try:
            obj = document.decode(codec, report=False)[0]  # type: ignore[arg-type]  # a compiled schema
        except DecodeError as error:
            raise BadRequest(str(error)) from error
        obj["kind"], obj["apiVersion"] = kind.kind, kind.api_version
        codec.default(obj)
        return obj

    def _parse(self, request: ApiRequest, kind: GroupVersionKind, codec: Codec) -> Document:
        """Return the body as JSON, whatever its format, or refuse it as no object of `kind`."""
        try:
            return self._read(request, kind, codec)
        except JsonError as error:
            raise unrecognized(kind, _HEAD + str(error), request.body) from error
        except (YamlError, ProtobufError) as error:
            raise unrecognized(kind, str(error), request.body) from error

    def _read(self, request: ApiRequest, kind: GroupVersionKind, codec: Codec) -> Document:
        if request.content is not None or request.inside:
            return parsed(copy_object(request.content) if request.content else {})
        media_type = negotiation.body_type(request.headers.get("content-type", ""))
        check_size(request.body)
        if media_type == negotiation.PROTOBUF:
            return self._read_protobuf(request, kind, codec)
        return read_json(request.body) if media_type == negotiation.JSON else read_yaml(request.body)

    def _read_protobuf(self, request: ApiRequest, kind: GroupVersionKind, codec: Codec) -> Document:
        envelope = open_envelope(request.body)
        if not isinstance(codec, CompiledSchema):
            raise ProtobufError("custom resources are not encoded as protobuf")
        api_version, name, raw = envelope
        value: Object = {"kind": name or kind.kind, "apiVersion": api_version or kind.api_version}
        if value["kind"] != kind.kind:
            return parsed(value)
        try:
            value |= self._protobuf.read_message(raw, codec)
        except DecodeError as error:
            return canonical(value, error)
        if len(raw) > _SHALLOW and not json.is_writable(value):
            raise ProtobufError(json.TOO_DEEP)
        return canonical(value)

    def _shape(
        self,
        request: ApiRequest,
        document: Document,
        kind: GroupVersionKind,
        codec: Codec,
        also: Sequence[GroupVersionKind] = (),
    ) -> Object:
        """Return a parsed document as an object of `kind`; see `decode`."""
        value, api_version = document.value, kind.api_version
        named = (value.get("kind"), value.get("apiVersion")) if value.__class__ is dict else None
        if named == (kind.kind, api_version) or (named == (None, None) and isinstance(codec, CompiledSchema)):
            actual = kind
        else:
            actual = self._checked_kind(request, document, kind, codec, also)
        mode = validation_mode(request)
        try:
            obj, strict = document.decode(codec, report=mode != "Ignore")  # type: ignore[arg-type]  # same two methods
        except DecodeError as error:
            raise _cannot(actual, kind, str(error)) from error
        if strict:
            if mode == "Strict":
                raise _cannot(actual, kind, f"strict decoding error: {', '.join(strict)}")
            for text in as_warnings(strict):
                request.warn(text)
        obj["kind"], obj["apiVersion"] = actual.kind, api_version
        if request.info.subresource == "status":
            request.status = KnownStatus(obj.get("status"))
        codec.default(obj)
        return obj

    def _checked_kind(
        self,
        request: ApiRequest,
        document: Document,
        kind: GroupVersionKind,
        codec: Codec,
        also: Sequence[GroupVersionKind],
    ) -> GroupVersionKind:
        """Return the kind of a document that does not plainly say `kind`, or refuse it as another one."""
        actual = self._actual_kind(request, document, kind)
        if request.body and not isinstance(codec, CompiledSchema):
            _insist_on_kind(request, document, kind)
        if actual in also:
            actual = kind
        if not isinstance(codec, CompiledSchema):
            _check_custom(actual, kind)
        elif actual != kind and self._kinds.is_version_of(actual, kind):
            raise _other_version(actual, kind)
        elif actual != kind and not self._is_known(actual, kind):
            raise _cannot(actual, kind, unregistered(actual, scheme_of(kind.group)))
        elif actual != kind:
            pair = f"({actual.version}.{actual.kind}) to ({internal_package(kind.group)}.{kind.kind})"
            raise _cannot(actual, kind, f"converting {pair}: unknown conversion")
        return actual

    def _is_known(self, actual: GroupVersionKind, kind: GroupVersionKind) -> bool:
        """Tell whether the scheme of the kind that is wanted has the actual one."""
        return scheme_of(actual.group) == scheme_of(kind.group) and self._kinds.is_registered(actual)

    def _actual_kind(self, request: ApiRequest, document: Document, kind: GroupVersionKind) -> GroupVersionKind:
        try:
            api_version, name = document.kind()
            version = GroupVersion.parse(api_version) if api_version else GroupVersion(kind.group, kind.version)
        except DecodeError as error:
            raise unrecognized(kind, _HEAD + str(error), request.body) from error
        except ValueError as error:
            raise unrecognized(kind, str(error), request.body) from error
        return GroupVersionKind(version.group, version.version, name or kind.kind)


@cache
def _cutting() -> Callable[[bytes, str, str], NamedMessage | None]:
    from hyperkube_host.apiserver.serializer.known_messages import cut  # the first body in protobuf asks for it

    return cut


def _named(known: bytes, name: str | None) -> Object:
    """Return a new object of a template from its JSON without name."""
    made: Object = orjson.loads(known)
    if name:
        made["metadata"]["name"] = name
    return made


def _insist_on_kind(request: ApiRequest, document: Document, kind: GroupVersionKind) -> None:
    """Refuse a custom object that does not say what it is."""
    if not document.kind()[1]:
        text = request.body.decode("utf-8", "replace") if not document.is_yaml else json.dumps(document.value).decode()
        raise unrecognized(kind, f"Object 'Kind' is missing in '{text}'", request.body)


def _check_custom(actual: GroupVersionKind, kind: GroupVersionKind) -> None:
    """Insist on the version of a custom object; that its kind is right, validation finds out."""
    if (actual.group, actual.version) != (kind.group, kind.version):
        raise _other_version(actual, kind)


def _other_version(actual: GroupVersionKind, kind: GroupVersionKind) -> BadRequest:
    got, wanted = actual.api_version, kind.api_version
    return BadRequest(f"the API version in the data ({got}) does not match the expected API version ({wanted})")


def _cannot(actual: GroupVersionKind, kind: GroupVersionKind, why: str) -> BadRequest:
    return BadRequest(f'{actual.kind} in version "{actual.version}" cannot be handled as a {kind.kind}: {why}')


def internal_package(group: str) -> str:
    """Return the Go package of a group's internal types, as some messages show it."""
    return group.partition(".")[0] or "core"
