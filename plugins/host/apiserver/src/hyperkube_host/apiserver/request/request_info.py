"""What a request asks for, read off its method, path and query: the words that authorization and routing use.

Source: kubernetes apiserver ``pkg/endpoints/request/requestinfo.go``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from hyperkube_lib.serving.aging_cache import AgingCache
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.fields import FieldRequirement, FieldSelectorError, parse_field_selector
from hyperkube.machinery.labels import Requirement, SelectorError, parse_selector
from hyperkube.machinery.recent import forgets
from hyperkube.machinery.users import UserInfo

if TYPE_CHECKING:
    from hyperkube_host.apiserver.request.target import Target

_VERBS = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_MANY = frozenset({"list", "watch", "deletecollection"})
_SPECIAL_VERBS = frozenset({"proxy", "watch"})
_OF_THE_NAMESPACE = frozenset({"status", "finalize"})

_LONGEST_PATH = 512
_MOST_PATHS = 1024
"""Characters of a path whose words are remembered while it is asked for again, and how many such paths."""

LONGEST_SELECTOR = 16 * 1024
"""Characters of a selector that is read before the request is authorized."""

Query = Mapping[str, Sequence[str]]


def flag(query: Query, name: str) -> bool:
    """Read a boolean query parameter: present without a value means true, and so does all but a false word."""
    values = query.get(name)
    if not values:
        return False
    return values[0] not in {"0", "f", "F", "false", "FALSE", "False"}


@dataclass(slots=True, kw_only=True)
class RequestInfo:
    """The request in the words of authorization; shared by requests to the same path, so it stays as `parse` made it.

    What its server has found out about it is kept with it, for as long as it holds, which who keeps it compares.

    Attributes:
        is_resource: whether the path lies below ``/api/VERSION`` or ``/apis/GROUP/VERSION``.
        verb: ``get``, ``list``, ``watch``, … or the lower-case method of a path that is no resource.
        parts: resource, name, subresource and what follows, as they stand in the path.
        in_namespace: whether the path names a namespace above the resource.
        rest: the path behind the subresource (``proxy/REST``), without a leading slash.
        field_selector: of a list, watch or deletion of many: the terms, none when it is no selector.
        label_selector: the same by labels.
        asked: what the authorizers were asked last.
        found: what it addresses, and in which generation of the registry.
        flow: the last user, and the `Flow` of their requests.
        series: the status of the last answer, and the `RequestSeries` where it was counted.
        turns: the generation of the registry, and whether such writes take turns.
    """

    path: str
    verb: str
    is_resource: bool = False
    prefix: str = ""
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    name: str = ""
    subresource: str = ""
    parts: tuple[str, ...] = ()
    in_namespace: bool = False
    special: bool = False
    field_selector: tuple[FieldRequirement, ...] = ()
    label_selector: tuple[Requirement, ...] = ()
    asked: Attributes | None = field(default=None, compare=False, repr=False)
    found: tuple[int, Target] | None = field(default=None, compare=False, repr=False)
    flow: tuple[UserInfo, Any] | None = field(default=None, compare=False, repr=False)
    series: tuple[int, Any] | None = field(default=None, compare=False, repr=False)
    turns: tuple[int, bool] | None = field(default=None, compare=False, repr=False)

    @property
    def rest(self) -> str:
        """The path behind the subresource, without a leading slash."""
        return "/".join(self.parts[3:])

    def attributes(self, user: UserInfo) -> Attributes:
        """Return what the authorizers are asked."""
        asked = self.asked
        if asked is None or asked.user is not user:
            asked = self.asked = self._attributes(user)
        return asked

    def _attributes(self, user: UserInfo) -> Attributes:
        if not self.is_resource:
            return Attributes(user, self.verb, path=self.path)
        return Attributes(
            user,
            self.verb,
            self.group,
            self.version,
            self.resource,
            self.subresource,
            self.namespace,
            self.name,
            self.path,
            self.field_selector,
            self.label_selector,
        )


def parse(method: str, path: str, query: Query) -> RequestInfo:
    """Return what the request asks for."""
    parts = path.strip("/").split("/") if path.strip("/") else []
    if len(parts) < 3 or parts[0] not in {"api", "apis"}:
        return RequestInfo(path=path, verb=method.lower())
    info = RequestInfo(path=path, verb="", prefix=parts[0])
    rest = parts[1:]
    if info.prefix == "apis":
        if len(rest) < 3:
            return RequestInfo(path=path, verb=method.lower())
        info.group, rest = rest[0], rest[1:]
    info.is_resource = True
    info.version, rest = rest[0], rest[1:]
    if rest[0] in _SPECIAL_VERBS:
        if len(rest) < 2:
            return RequestInfo(path=path, verb=method.lower())
        info.verb, info.special, rest = rest[0], True, rest[1:]
    else:
        info.verb = _VERBS.get(method, "")
    rest = _namespace(info, rest)
    _resource(info, rest, query)
    return info


class KnownPaths:
    """Reads method and path of each request, once for all who look at it and for the next with the same words.

    One for each server, as what is known of a path holds in its server alone; from any thread.
    """

    def __init__(self, monotonic: Callable[[], float] = SystemClock.monotonic) -> None:
        """Know none; `monotonic` returns seconds that never go back."""
        self._known: AgingCache[tuple[str, str], RequestInfo] = AgingCache(_MOST_PATHS, monotonic)
        forgets(self)

    def forget(self) -> None:
        """Forget all paths: each is read again with its next request."""
        self._known.forget()

    def read(self, request: HttpRequest) -> RequestInfo:
        """Return what method and path ask for; the query is not looked at."""
        info, line = request.read, request.line
        if info is None and line is not None:
            info = line.read
        if not isinstance(info, RequestInfo):
            # A line that comes again keeps what was read off it: only others of the same path would find it here.
            info = self._read(request.method, request.path, keep=line is None or bool(line.query))
            if line is not None:
                line.read = info
        request.read = info
        return info

    def _read(self, method: str, path: str, *, keep: bool) -> RequestInfo:
        known, words = self._known, (method, path)
        info = known.get(words) or known.find(words)
        if info is None:
            info = parse(method, path, {})
            if keep and len(path) <= _LONGEST_PATH:
                known.keep(words, info)
        return info


def watch_flag(query_string: str) -> Query:
    """Return of a query no more than ``watch``: for those who cannot wait until all of it has been read."""
    if "watch" not in query_string and "%" not in query_string:
        return {}
    pairs = (text.partition("=") for text in query_string.split("&"))
    named = [value for name, _, value in pairs if name == "watch" or ("%" in name and unquote_plus(name) == "watch")]
    return {"watch": [unquote_plus(value) for value in named[:1]]}


def _namespace(info: RequestInfo, rest: list[str]) -> list[str]:
    if rest[0] != "namespaces":
        return rest
    if len(rest) > 1:
        info.namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _OF_THE_NAMESPACE:
            info.in_namespace = True
            return rest[2:]
    return rest


def _resource(info: RequestInfo, rest: list[str], query: Query) -> None:
    info.parts = tuple(rest)
    info.resource = rest[0]
    if len(rest) > 1:
        info.name = rest[1]
    if len(rest) > 2 and not info.special:
        info.subresource = rest[2]
    if info.name:
        return
    if info.verb == "get":
        info.verb = "watch" if flag(query, "watch") else "list"
    if info.verb == "delete":
        info.verb = "deletecollection"
    if query and info.verb in _MANY:
        _selectors(info, query)


def _selectors(info: RequestInfo, query: Query) -> None:
    """Note what narrows the request; a name that is pinned down counts, so that one object can be watched by name.

    This comes before authorization, so what takes long to read is not read: it narrows nothing for the authorizers,
    as what cannot be read does not either.
    """
    by_field, by_label = query.get("fieldSelector"), query.get("labelSelector")
    if any(given and len(given[0]) > LONGEST_SELECTOR for given in (by_field, by_label)):
        return
    with contextlib.suppress(FieldSelectorError):  # refused with its own message when the list is answered
        if by_field and by_field[0]:
            selector = parse_field_selector(by_field[0])
            info.field_selector = selector.requirements
            if info.verb != "deletecollection":
                info.name = selector.exact("metadata.name") or ""
    with contextlib.suppress(SelectorError):
        if by_label and by_label[0]:
            info.label_selector = parse_selector(by_label[0]).requirements
