"""Groups of the Kubernetes community: what defines kinds in them says that it was reviewed, or why not.

Source: kubernetes apiextensions-apiserver ``pkg/apihelpers/helpers.go``.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from hyperkube.machinery.objects import Object, annotations_of

APPROVED = "api-approved.kubernetes.io"
_URL = "https://github.com/kubernetes/enhancements/pull/1111"


def approval(obj: Object) -> tuple[str, str]:
    """Return how a definition stands to API review: ``missing``, ``bypassed``, ``approved``, ``invalid``; and why."""
    value = annotations_of(obj).get(APPROVED) or ""
    needed = f'protected groups must have approval annotation "{APPROVED}"'
    if not value:
        return "missing", f"{needed}, see {_URL}"
    if value.startswith("unapproved"):
        return "bypassed", f'not approved: "{value}"'
    parts = urlsplit(value)
    if parts.scheme and parts.hostname:
        return "approved", f"approved in {value}"
    return "invalid", f'{needed} with either a URL or a reason starting with "unapproved", see {_URL}'


def is_protected(group: str) -> bool:
    """Tell whether a group belongs to the Kubernetes community."""
    return f".{group}".endswith((".k8s.io", ".kubernetes.io"))
