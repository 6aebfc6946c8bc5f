"""What the API serves: every resource in its preferred version, read from the server's discovery documents.

Two requests suffice where the server has aggregated discovery; the older documents are read one by one where not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from hyperkube.client.client import Client
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ServiceUnavailable
from hyperkube.machinery.groups import GroupKind, GroupVersion, GroupVersionKind, GroupVersionResource
from hyperkube.machinery.objects import Object

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


@dataclass(frozen=True, slots=True)
class ApiResource:
    """One resource in one version: how to address it, what its objects are, what may be done with it."""

    gvr: GroupVersionResource
    kind: str
    namespaced: bool
    verbs: frozenset[str]

    @property
    def group_kind(self) -> GroupKind:
        """The kind of the resource's objects."""
        return GroupKind(self.gvr.group, self.kind)


@dataclass(frozen=True, slots=True)
class Discovered:
    """What was found; `failed` names the group versions whose server did not answer (``metrics.k8s.io/v1beta1``).

    `kinds` are the kinds in all versions that are served, not the preferred one alone.
    """

    resources: tuple[ApiResource, ...]
    failed: tuple[str, ...] = ()
    kinds: frozenset[GroupVersionKind] = frozenset()


def discover(client: Client) -> Discovered:
    """Return every resource in the version its group prefers.

    Raises:
        ServiceUnavailable: the list of groups itself could not be read.
        ConnectionError: there is no server.
    """
    found: dict[tuple[str, str], ApiResource] = {}
    failed: list[str] = []
    kinds: set[GroupVersionKind] = set()
    for root in ("/api", "/apis"):
        document = _read(client, root)
        if document is None:
            raise ServiceUnavailable(f"cannot read {root!r}")
        if document.get("kind") == "APIGroupDiscoveryList":
            rows = _aggregated(document, failed)
        else:
            rows = _classic(client, root, document, failed)
        for row in rows:
            found.setdefault((row.gvr.group, row.gvr.resource), row)
            kinds.add(GroupVersionKind(row.gvr.group, row.gvr.version, row.kind))
    return Discovered(tuple(found.values()), tuple(failed), frozenset(kinds))


def _read(client: Client, path: str) -> Object | None:
    answer = client.request("GET", path, headers={"Accept": _AGGREGATED})
    if answer.status != 200:
        return None
    document: Object = orjson.loads(answer.body)
    return document


def _aggregated(document: Object, failed: list[str]) -> Iterator[ApiResource]:
    for group in document.get("items") or []:
        name = (group.get("metadata") or {}).get("name", "")
        for version in group.get("versions") or []:
            if version.get("freshness") == "Stale" and not version.get("resources"):
                failed.append(str(GroupVersion(name, version["version"])))
            for entry in version.get("resources") or []:
                yield ApiResource(
                    GroupVersionResource(name, version["version"], entry["resource"]),
                    (entry.get("responseKind") or {}).get("kind", ""),
                    entry.get("scope") == "Namespaced",
                    frozenset(entry.get("verbs") or ()),
                )


def _classic(client: Client, root: str, document: Object, failed: list[str]) -> Iterator[ApiResource]:
    for version in _versions(document):
        listed = _read(client, f"{root}/{version}")
        if listed is None:
            failed.append(str(version))
            continue
        for entry in listed.get("resources") or []:
            if "/" not in entry["name"]:
                yield _row(version, entry)


def _versions(document: Object) -> list[GroupVersion]:
    """Return the versions of a group list, each group's preferred one first."""
    if "groups" not in document:
        return [GroupVersion("", version) for version in document.get("versions") or []]
    versions: list[GroupVersion] = []
    for group in document["groups"]:
        preferred = (group.get("preferredVersion") or {}).get("groupVersion")
        listed = [entry["groupVersion"] for entry in group.get("versions") or []]
        listed.sort(key=lambda version, first=preferred: version != first)  # type: ignore[misc]  # bound per group
        versions += [GroupVersion.parse(version) for version in listed]
    return versions


def _row(version: GroupVersion, entry: dict[str, Any]) -> ApiResource:
    return ApiResource(
        GroupVersionResource(version.group, version.version, entry["name"]),
        entry.get("kind", ""),
        bool(entry.get("namespaced")),
        frozenset(entry.get("verbs") or ()),
    )
