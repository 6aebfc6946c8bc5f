"""What another server serves, by what it says of itself: all at once, or one group version at a time.

A newer server has a list of all its groups; an older one lists the resources of each group version. What is kept here
is the latter form, and the former is turned into it.
Source: kubernetes kube-aggregator ``pkg/apiserver/handler_discovery.go``.
"""

from __future__ import annotations

from typing import Any

import orjson
from hyperkube_lib.serving.exchange import Response

from hyperkube.machinery.objects import Object

_ALL = "g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
ACCEPT = ",".join([*(f"application/json;{_ALL.format(version)}" for version in ("v2", "v2beta1")), "application/json"])
"""What a server is asked for: everything at once, if it can."""

Rows = tuple[Object, ...]
"""Rows of an APIResourceList; a part of a resource is one of its own (``things/status``)."""


def is_whole(answer: Response) -> bool:
    """Tell whether an answer is a list of all groups."""
    headers = {name.lower(): value for name, value in answer.headers}
    return answer.status == 200 and "as=APIGroupDiscoveryList" in headers.get("content-type", "").replace(" ", "")


def rows_of_whole(body: bytes, group: str, version: str) -> Rows:
    """Return the resources of a group version from a list of all groups; none when it does not have it.

    Raises:
        ValueError, TypeError, AttributeError: the list has another form.
    """
    for one in orjson.loads(body).get("items") or ():
        if (one.get("metadata") or {}).get("name") != group:
            continue
        for entry in one.get("versions") or ():
            if entry.get("version") == version:
                return tuple(
                    row for resource in entry.get("resources") or () for row in _rows(resource, group, version)
                )
    return ()


def rows_of_version(body: bytes) -> Rows:
    """Return the resources that an APIResourceList names; none when it is no such list."""
    try:
        document: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ()
    rows = document.get("resources") if isinstance(document, dict) else None
    return tuple(row for row in rows if isinstance(row, dict)) if isinstance(rows, list) else ()


def _rows(resource: Object, group: str, version: str) -> list[Object]:
    name, scope = str(resource.get("resource") or ""), resource.get("scope")
    row: Object = {
        "name": name,
        "singularName": resource.get("singularResource") or "",
        "namespaced": scope == "Namespaced",
        **_kind(resource.get("responseKind") or {}, group, version),
        "verbs": resource.get("verbs") or [],
    }
    row |= {member: resource[member] for member in ("shortNames", "categories") if resource.get(member)}
    parts = [
        {
            "name": f"{name}/{part.get('subresource') or ''}",
            "singularName": "",
            "namespaced": scope == "Namespaced",
            **_kind(part.get("responseKind") or {}, group, version),
            "verbs": part.get("verbs") or [],
        }
        for part in resource.get("subresources") or ()
    ]
    return [row, *parts]


def _kind(kind: Object, group: str, version: str) -> Object:
    """Return a kind; a group version of its own is named only where it is another."""
    own = (kind.get("group") or group, kind.get("version") or version)
    other = {"group": own[0], "version": own[1]} if own != (group, version) else {}
    return {**other, "kind": kind.get("kind") or ""}
