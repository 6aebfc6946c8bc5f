"""Which objects a list, a watch or a deletion of a collection is about: label and field selectors.

Source: kubernetes apiserver ``pkg/endpoints/handlers/get.go``, ``pkg/registry/generic/registry/store.go``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.target import Target
from hyperkube_host.apiserver.resources.served import NAME_FIELDS, ServedResource
from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.watchers import Index, Predicate

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import BadRequest
from hyperkube.machinery.fields import FieldSelector, FieldSelectorError, parse_field_selector
from hyperkube.machinery.labels import Selector, SelectorError, parse_selector

_PLAIN = re.compile(r"[\w.:/{}-]+", re.ASCII).fullmatch
"""Matches texts that are in JSON as they are, whoever writes it."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a request selects.

    Attributes:
        name: the one name it can match, or empty.
        index: an index that narrows it down.
        matches: None when everything in scope matches.
        converted: what else has to be true, of objects in the version that is asked for. A webhook converts them: it
            may take long and raise `ApiError`, and is not for where nothing may wait.
        holds: a text in the JSON of all that match, of resources that are not cached; may be empty.
    """

    namespace: str = ""
    name: str = ""
    index: Index | None = None
    matches: Predicate | None = None
    converted: Predicate | None = None
    holds: bytes = b""

    @property
    def is_whole(self) -> bool:
        """Whether no selector was given: then a page can say how many objects remain."""
        return self.matches is None and self.converted is None

    def all_of(self) -> Predicate | None:
        """Return both tests as one, the cheap one first."""
        matches, converted = self.matches, self.converted
        if matches is None or converted is None:
            return matches or converted
        return lambda obj: matches(obj) and converted(obj)


def _fields_of(obj: CachedObject) -> dict[str, str]:
    return {**obj.fields, "metadata.name": obj.name, "metadata.namespace": obj.namespace}


def select(request: ApiRequest, target: Target) -> Selection:
    """Return what a request for a collection selects.

    Raises:
        BadRequest: a selector cannot be read, or names a field that the resource does not have.
    """
    labels = _labels(request.param("labelSelector"))
    fields = _fields(request.param("fieldSelector"), target.served)
    name = fields.exact("metadata.name") or "" if fields is not None else ""
    namespace = target.namespace
    if not namespace and fields is not None and target.served.spec.namespaced:
        namespace = fields.exact("metadata.namespace") or ""
    if fields is not None and _needs_conversion(target.served, fields):
        test = _converted_test(target.served, fields)
        return Selection(namespace, name, None, predicate(target.served, labels, None), test)
    index = _index(fields, target.served) if fields is not None else None
    return Selection(
        namespace, name, index, predicate(target.served, labels, fields), holds=_held(fields, target.served)
    )


def _labels(text: str) -> Selector | None:
    if not text:
        return None
    try:
        selector = parse_selector(text)
    except SelectorError as error:
        raise BadRequest(str(error)) from error
    return None if selector.is_empty else selector


def _fields(text: str, served: ServedResource) -> FieldSelector | None:
    if not text:
        return None
    try:
        selector = parse_field_selector(text)
    except FieldSelectorError as error:
        raise BadRequest(str(error)) from error
    known = served.field_names
    for requirement in selector.requirements:
        if requirement.field not in known:
            raise BadRequest(unknown_field(served, requirement.field))
    return None if selector.is_empty else selector


def unknown_field(served: ServedResource, name: str) -> str:
    """Return the text for a field selector that a resource does not have."""
    if not served.spec.fields:
        return f'"{name}" is not a known field selector: only "metadata.name", "metadata.namespace"'
    kind = served.kind
    place = f" for {kind.api_version}, Kind={kind.kind}" if served.spec.names_kind_in_selectors else ""
    return f"field label not supported{place}: {name}"


def _index(fields: FieldSelector, served: ServedResource) -> Index | None:
    if served.storage is None or (served.converts and not served.is_stored):
        return None
    for path in served.storage.indexes:
        value = fields.exact(path)
        if value:
            return path, value
    return None


def _held(fields: FieldSelector | None, served: ServedResource) -> bytes:
    """Return the longest text that the stored JSON of an event must hold to match, as events have their fields in it.

    Of one that JSON might escape nothing is known.
    """
    if fields is None or served.spec.ttl_seconds is None or not served.is_stored:
        return b""
    values = [value for field, operator, value in fields.requirements if operator == "=" and field not in NAME_FIELDS]
    return max((value.encode() for value in values if _PLAIN(value)), key=len, default=b"")


def predicate(served: ServedResource, labels: Selector | None, fields: FieldSelector | None) -> Predicate | None:
    """Return the test for both selectors, or None when neither restricts anything."""
    if fields is None:
        return (lambda obj: labels.matches(obj.labels)) if labels is not None else None
    match_fields = _field_test(served, fields)
    if labels is None:
        return match_fields
    return lambda obj: labels.matches(obj.labels) and match_fields(obj)


def _needs_conversion(served: ServedResource, fields: FieldSelector) -> bool:
    """Tell whether the fields of a version are known only once a webhook has converted what is stored."""
    asks = served.waits and not served.is_stored
    return asks and any(requirement.field not in NAME_FIELDS for requirement in fields.requirements)


def _field_test(served: ServedResource, fields: FieldSelector) -> Predicate:
    if served.is_stored or served.waits:
        matches = _gathered(fields)
        return lambda obj: matches(_fields_of(obj))
    return _converted_test(served, fields)


def _gathered(fields: FieldSelector) -> Callable[[Mapping[str, str]], bool]:
    """Return the test for the values of fields, which costs no more for many terms on one field."""
    wanted: dict[str, set[str]] = {}
    refused: dict[str, set[str]] = {}
    for field, operator, value in fields.requirements:
        (wanted if operator == "=" else refused).setdefault(field, set()).add(value)
    return lambda values: (
        all({values.get(field, "")} == only for field, only in wanted.items())
        and not any(values.get(field, "") in these for field, these in refused.items())
    )


def _converted_test(served: ServedResource, fields: FieldSelector) -> Predicate:
    readers = served.spec.fields
    matches = _gathered(fields)

    def test(obj: CachedObject) -> bool:
        parsed = served.parsed(obj)
        values = {path: read(parsed) for path, read in readers.items()}
        return matches(values | {"metadata.name": obj.name, "metadata.namespace": obj.namespace})

    return test
