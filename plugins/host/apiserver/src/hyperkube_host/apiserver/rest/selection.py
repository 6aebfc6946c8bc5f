"""Which objects a list, a watch or a deletion of a collection is about: label and field selectors.

Source: kubernetes apiserver ``pkg/endpoints/handlers/get.go``, ``pkg/registry/generic/registry/store.go``.
"""

from __future__ import annotations

from hyperkube_host.apiserver.request.api_request import ApiRequest, Target
from hyperkube_host.apiserver.resources.served import NAME_FIELDS, ServedResource
from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.watchers import Index, Predicate

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import BadRequest
from hyperkube.machinery.fields import FieldSelector, FieldSelectorError, parse_field_selector
from hyperkube.machinery.labels import Selector, SelectorError, parse_selector


@dataclass(frozen=True, slots=True)
class Selection:
    """What a request selects.

    Attributes:
        name: the one name it can match, or empty.
        index: an index that narrows it down.
        matches: None when everything in scope matches.
    """

    namespace: str = ""
    name: str = ""
    index: Index | None = None
    matches: Predicate | None = None

    @property
    def is_whole(self) -> bool:
        """Whether no selector was given: then a page can say how many objects remain."""
        return self.matches is None


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
    index = _index(fields, target.served) if fields is not None else None
    return Selection(namespace, name, index, predicate(target.served, labels, fields))


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
    known = selectable(served)
    for requirement in selector.requirements:
        if requirement.field not in known:
            raise BadRequest(unknown_field(served, requirement.field))
    return None if selector.is_empty else selector


def selectable(served: ServedResource) -> frozenset[str]:
    """Return the fields that may be selected by.

    Which objects are selected is asked with every write, where nothing may wait for a webhook: a version that one
    converts can be selected by the fields that the stored version has too, as they are stored.
    """
    known = served.field_names
    if not served.waits or served.storage is None:
        return known
    return known & (NAME_FIELDS | served.storage.field_names)


def unknown_field(served: ServedResource, name: str) -> str:
    """Return the text for a field selector that a resource does not have."""
    if not served.spec.fields:
        return f'"{name}" is not a known field selector: only "metadata.name", "metadata.namespace"'
    return f"field label not supported: {name}"


def _index(fields: FieldSelector, served: ServedResource) -> Index | None:
    if served.storage is None or (served.converts and not served.is_stored):
        return None
    for path in served.storage.indexes:
        value = fields.exact(path)
        if value:
            return path, value
    return None


def predicate(served: ServedResource, labels: Selector | None, fields: FieldSelector | None) -> Predicate | None:
    """Return the test for both selectors, or None when neither restricts anything."""
    if fields is None:
        return (lambda obj: labels.matches(obj.labels)) if labels is not None else None
    match_fields = _field_test(served, fields)
    if labels is None:
        return match_fields
    return lambda obj: labels.matches(obj.labels) and match_fields(obj)


def _field_test(served: ServedResource, fields: FieldSelector) -> Predicate:
    if served.is_stored or served.waits:
        return lambda obj: fields.matches(_fields_of(obj))
    readers = served.spec.fields

    def test(obj: CachedObject) -> bool:
        parsed = served.parsed(obj)
        values = {path: read(parsed) for path, read in readers.items()}
        return fields.matches(values | {"metadata.name": obj.name, "metadata.namespace": obj.namespace})

    return test
