"""Which format an answer has: read off the Accept header as go-restful and the API machinery do, one after the other.

Source: kubernetes apiserver ``pkg/endpoints/handlers/negotiation/negotiate.go``, go-restful ``jsr311.go``.
"""

from __future__ import annotations

from functools import lru_cache

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, EmptyDetails, NotAcceptable, UnsupportedMediaType

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
ALL = (JSON, YAML, PROTOBUF)
STREAMS = (f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")
LONGEST_ACCEPT = 4096
PATCH_TYPES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)
_CONVERTS = frozenset({"as", "g", "v"})
_TABLES = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})


@dataclass(frozen=True, slots=True)
class Format:
    """How an answer is written.

    Attributes:
        media_type: JSON, YAML or protobuf.
        kind: ``Table``, ``PartialObjectMetadata`` or ``PartialObjectMetadataList`` in place of the object, or empty.
        version: of that kind in ``meta.k8s.io``.
    """

    media_type: str = JSON
    kind: str = ""
    version: str = ""
    stream: bool = False


PLAIN, MESSAGE = Format(), Format(PROTOBUF)
"""An object as it is, in JSON and in protobuf: `negotiate` returns these very formats, so that `is` tells them."""

MESSAGES = frozenset({PROTOBUF, *(f"{PROTOBUF},{other}" for other in (JSON, f" {JSON}", "*/*", " */*"))})
"""Accept headers of clients that want a `MESSAGE` of whatever has one: they need not be taken apart."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of an Accept header."""

    media_type: str
    params: tuple[tuple[str, str], ...]
    quality: float


def read_part(accept: str) -> str:
    """Return as many clauses of an Accept header as are read at all, so that none takes long or fills the memory."""
    return accept if len(accept) <= LONGEST_ACCEPT else accept[:LONGEST_ACCEPT].rpartition(",")[0]


def clauses(accept: str) -> tuple[Clause, ...]:
    """Split an Accept header into its clauses, the most wanted first."""
    return _clauses(read_part(accept))


@lru_cache(maxsize=512)
def _clauses(accept: str) -> tuple[Clause, ...]:
    clauses: list[Clause] = []
    for part in accept.split(","):
        media_type, *params = (piece.strip() for piece in part.split(";"))
        if not media_type:
            continue
        pairs = [tuple(param.partition("=")[::2]) for param in params if param]
        quality = next((_quality(value) for name, value in pairs if name == "q"), 1.0)
        kept = tuple((name, value) for name, value in pairs if name != "q")
        clauses.append(Clause(media_type, kept, quality))
    return tuple(sorted(clauses, key=lambda clause: -clause.quality))


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


def check_accepted(accept: str, produced: tuple[str, ...], *, strict: bool = False) -> None:
    """Refuse, as the router does, a request none of whose accepted types is produced at all.

    Args:
        accept: the Accept header.
        produced: what there is.
        strict: whether JSON, which clients ask for by habit, has to be among them.

    Raises:
        NotAcceptable: naming what is available.
    """
    if not accept or accept == "*/*" or (accept == JSON and not strict):
        return
    for clause in clauses(accept):
        if clause.media_type == "*/*" or clause.media_type in produced:
            return
    text = f"406: Not Acceptable\n\nAvailable representations: {', '.join(produced)}"
    raise with_details(NotAcceptable(text))


def with_details(error: ApiError) -> ApiError:
    """Return the error with its details shown although they are empty, as the router's own errors have them."""
    error.details = EmptyDetails()
    return error


def negotiate(accept: str, *, transforms: bool = False, binary: bool = False, tables: bool = True) -> Format:
    """Return the format of an answer.

    Args:
        accept: the Accept header; empty accepts everything.
        transforms: whether tables and partial objects may be asked for.
        binary: whether protobuf can be written.
        tables: whether, where such forms may be asked for, the resource can be shown as a table.

    Raises:
        NotAcceptable: nothing that is accepted can be written.
    """
    if not accept or accept == JSON:
        return PLAIN
    return _negotiate(read_part(accept), transforms, binary, tables)


@lru_cache(maxsize=512)
def _negotiate(accept: str, transforms: bool, binary: bool, tables: bool) -> Format:
    for clause in _clauses(accept):
        media_type = _matching(clause.media_type, binary=binary)
        if media_type is None:
            continue
        params = dict(clause.params)
        kind = params.get("as", "")
        if asks_for_a_kind(clause) and not (transforms and _is_known(kind, params)):
            continue
        if kind == "Table" and (media_type == PROTOBUF or not tables):
            continue  # tables have no such form, or the resource has none
        wanted = Format(media_type, kind, params.get("v", "v1") if kind else "", params.get("stream") == "watch")
        return next((plain for plain in (PLAIN, MESSAGE) if plain == wanted), wanted)
    raise NotAcceptable(f"only the following media types are accepted: {', '.join(ALL)}")


def asks_for_a_kind(clause: Clause) -> bool:
    """Tell whether a clause asks for another kind than the object's own: by its name, group or version."""
    return any(name in _CONVERTS for name, _ in clause.params)


def negotiate_custom(accept: str, *, transforms: bool) -> Format:
    """Return the format of an answer with custom objects: they have no messages, only their metadata do.

    Raises:
        NotAcceptable: nothing that is accepted can be written.
    """
    wanted = negotiate(accept, transforms=transforms, binary=True)
    is_message = wanted.media_type == PROTOBUF and not wanted.kind
    return negotiate(accept, transforms=transforms) if is_message else wanted


def negotiate_review(accept: str) -> Format:
    """Return the format of an answer with an object that is not stored: it cannot be shown as a table.

    Raises:
        NotAcceptable: nothing that is accepted can be written.
    """
    return negotiate(accept, transforms=True, binary=True, tables=False)


def _is_known(kind: str, params: dict[str, str]) -> bool:
    return kind in _TABLES and params.get("g") == "meta.k8s.io" and params.get("v") in {"v1", "v1beta1"}


def _matching(media_type: str, *, binary: bool) -> str | None:
    if media_type in {"*/*", "application/*", JSON}:
        return JSON
    if media_type == YAML or (binary and media_type == PROTOBUF):
        return media_type
    return None


def error_format(accept: str) -> str:
    """Return the media type for an error: what the client accepts, or JSON."""
    try:
        return negotiate(accept, binary=True).media_type
    except NotAcceptable:
        return JSON


def body_type(content_type: str) -> str:
    """Return the media type of a request's body.

    Raises:
        UnsupportedMediaType: it is none that bodies may have.
    """
    if content_type in ALL:
        return content_type
    media_type = content_type.partition(";")[0].strip().lower() or JSON
    if media_type not in ALL:
        raise UnsupportedMediaType(
            f"the body of the request was in an unknown format - accepted media types include: {', '.join(ALL)}"
        )
    return media_type


def patch_type(content_type: str, allowed: tuple[str, ...] = PATCH_TYPES) -> str:
    """Return the media type of a patch.

    Raises:
        UnsupportedMediaType: it is no patch, or not one that the resource understands.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type not in PATCH_TYPES:
        raise with_details(UnsupportedMediaType("415: Unsupported Media Type"))
    if media_type not in allowed:
        raise UnsupportedMediaType(
            f"the body of the request was in an unknown format - accepted media types include: {', '.join(allowed)}"
        )
    return media_type
