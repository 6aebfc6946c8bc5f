"""Which writes a policy is about: decided in the API server, so that others cost no message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from typing import Any

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.labels import Selector, SelectorError, parse_selector
from hyperkube.machinery.objects import labels_of

_Pattern = re.Pattern[str]


class Matcher:
    """The compiled ``resources``, ``operations``, ``namespaces`` and ``labels`` of one policy.

    Raises:
        UsageError: its label selector cannot be read.
    """

    def __init__(self, declared: Mapping[str, Any]) -> None:
        self._resources = frozenset(declared["resources"])
        self._operations = frozenset(declared["operations"])
        self._inside = _patterns(declared["namespaces"])
        self._outside = _patterns(declared["exclude_namespaces"])
        self._labels: Selector | None = None
        if declared["labels"]:
            try:
                self._labels = parse_selector(declared["labels"])
            except SelectorError as error:
                raise UsageError(f"policy {declared['name']!r}: labels: {error}") from error

    def __call__(self, request: AdmissionRequest) -> bool:
        """Tell whether the policy is about a request."""
        if request.operation not in self._operations and "*" not in self._operations:
            return False
        if self._resources.isdisjoint(_words(request)):
            return False
        namespace = request.namespace
        if self._inside is not None and not self._inside.match(namespace):
            return False
        if self._outside is not None and namespace and self._outside.match(namespace):
            return False
        return self._labels is None or _has_labels(self._labels, request)


def _patterns(texts: Sequence[str]) -> _Pattern | None:
    return re.compile("|".join(f"(?:{translate(text)})" for text in texts)) if texts else None


def _words(request: AdmissionRequest) -> Iterable[str]:
    """Return the words by which a policy may mean the request's resource."""
    resource, subresource = str(request.resource.group_resource), request.subresource
    if subresource:
        plain = request.resource.resource
        return (f"{resource}/{subresource}", f"{plain}/{subresource}", f"*/{subresource}", f"{resource}/*", "*/*")
    return (resource, "*", "*/*")


def _has_labels(selector: Selector, request: AdmissionRequest) -> bool:
    return any(selector.matches(labels_of(one)) for one in (request.object, request.old_object) if one is not None)
