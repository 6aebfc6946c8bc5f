"""What a policy is asked about (`Review`), and the verdicts that are more than a sentence (`Deny`, `Patch`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

from hyperkube.machinery.dataclass import dataclass

Object: TypeAlias = dict[str, Any]
"""A Kubernetes object, or a part of one, as JSON shapes it."""


@dataclass(frozen=True, slots=True)
class Deny:
    """A refusal with its status: the HTTP code and the reason that clients see beside the message."""

    message: str
    code: int = 403
    reason: str = "Forbidden"


@dataclass(frozen=True, slots=True)
class Patch:
    """A change as JSON patch operations (RFC 6902): what a mutating policy may return in place of a whole object."""

    operations: Sequence[Object]


@dataclass(frozen=True, slots=True)
class User:
    """Who asks, after impersonation."""

    name: str
    uid: str = ""
    groups: Sequence[str] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Review:
    """One write on its way to the store.

    Attributes:
        operation: CREATE, UPDATE, DELETE or CONNECT.
        group: the API group of the resource, empty for the core group.
        version: its version.
        resource: the resource's plural name, ``pods``.
        subresource: ``status``, ``exec``, … or empty.
        kind: the kind of the object.
        namespace: where, empty for what has none.
        name: may be empty on CREATE with generateName.
        user: who asks.
        object: the object as it would be stored, the policy's own copy; empty on DELETE.
        old_object: as it is stored; empty on CREATE and CONNECT.
        options: the Create/Update/Delete options given with the request.
        dry_run: whether nothing will be stored.
        params: the parameters of the policy's entry in the configuration file.
    """

    operation: str
    resource: str
    group: str = ""
    version: str = "v1"
    subresource: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    user: User = field(default_factory=lambda: User(""))
    object: Object = field(default_factory=dict)
    old_object: Object = field(default_factory=dict)
    options: Object = field(default_factory=dict)
    dry_run: bool = False
    params: Mapping[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)

    def warn(self, text: str) -> None:
        """Send the client a warning; the write goes on."""
        self.warnings.append(text)

    def audit(self, key: str, value: str) -> None:
        """Put an annotation into the audit log, under the policy's name."""
        self.annotations[key] = value


def review_from(table: Mapping[str, Any], params: Mapping[str, Any]) -> Review:
    """Return the review that `hyperkube_admission.python_policy.requests.asked` describes."""
    fields = {name: value for name, value in table.items() if name != "user"}
    return Review(**fields, user=User(**table["user"]), params=params)
