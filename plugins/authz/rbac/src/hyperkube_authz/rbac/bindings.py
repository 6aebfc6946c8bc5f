"""Which bindings name a user: an index by subject, kept up to date one binding at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import NamedTuple

from hyperkube.machinery.objects import Object, key_of, name_of, namespace_of
from hyperkube.machinery.users import SERVICE_ACCOUNT_PREFIX, UserInfo

SubjectKey = tuple[str, str]


class Grant(NamedTuple):
    """One subject of one binding.

    Attributes:
        binding: the ClusterRoleBinding or RoleBinding; shared, read-only.
        subject: how the subject is described in reasons.
        namespace: where the grant holds; empty for everywhere.
    """

    binding: Object
    subject: str
    namespace: str

    @property
    def role_kind(self) -> str:
        """``ClusterRole`` or ``Role``."""
        return str((self.binding.get("roleRef") or {}).get("kind", ""))

    @property
    def role_name(self) -> str:
        """The name of the role that is granted."""
        return str((self.binding.get("roleRef") or {}).get("name", ""))

    def describe(self) -> str:
        """Return ``ClusterRoleBinding "b" of ClusterRole "r" to User "u"``."""
        kind = "RoleBinding" if self.namespace else "ClusterRoleBinding"
        name = name_of(self.binding)
        shown = f"{name}/{self.namespace}" if self.namespace else name
        return f'{kind} "{shown}" of {self.role_kind} "{self.role_name}" to {self.subject}'


def _subject(subject: Object, home: str) -> tuple[SubjectKey, str] | None:
    """Return the key under which a subject is found, and its description."""
    kind, name = subject.get("kind"), subject.get("name", "")
    if kind in {"User", "Group"}:
        return (kind, name), f'{kind} "{name}"'
    namespace = subject.get("namespace") or home
    if kind == "ServiceAccount" and namespace:
        return ("User", f"{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}"), f'ServiceAccount "{name}/{namespace}"'
    return None


class BindingIndex:
    """Grants by subject; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._grants: dict[SubjectKey, dict[str, Grant]] = {}
        self._subjects: dict[str, set[SubjectKey]] = {}

    def put(self, binding: Object) -> None:
        """Add a binding, or replace the one of its name."""
        key, namespace = key_of(binding), namespace_of(binding)
        found: dict[SubjectKey, Grant] = {}
        for subject in binding.get("subjects") or ():
            entry = _subject(subject, namespace)
            if entry is not None:
                found.setdefault(entry[0], Grant(binding, entry[1], namespace))
        with self._lock:
            self._drop(key)
            for subject_key, grant in found.items():
                self._grants[subject_key] = {**self._grants.get(subject_key, {}), key: grant}
            self._subjects[key] = set(found)

    def remove(self, binding: Object) -> None:
        """Take a binding out."""
        with self._lock:
            self._drop(key_of(binding))

    def _drop(self, key: str) -> None:
        for subject in self._subjects.pop(key, ()):
            left = {other: grant for other, grant in self._grants.get(subject, {}).items() if other != key}
            if left:
                self._grants[subject] = left
            else:
                self._grants.pop(subject, None)

    def grants(self, user: UserInfo, namespace: str) -> Iterator[Grant]:
        """Yield what is granted to a user, or to his groups, everywhere or in that namespace."""
        for subject in (("User", user.name), *(("Group", group) for group in user.groups)):
            for grant in self._grants.get(subject, {}).values():  # replaced as a whole, never changed in place
                if not grant.namespace or grant.namespace == namespace:
                    yield grant
