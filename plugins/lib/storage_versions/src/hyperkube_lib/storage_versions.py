"""StorageVersions: in which version each API server stores a resource, and what all of them agree on.

Source: kubernetes apiserver ``pkg/storageversion/updater.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hyperkube.kinds.conditions import with_condition
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object

STORAGE_VERSIONS = GroupVersionResource("internal.apiserver.k8s.io", "v1alpha1", "storageversions")
ALL_EQUAL = "AllEncodingVersionsEqual"


def with_server(status: Object, server: str, encoding: str, decodable: Sequence[str], served: Sequence[str]) -> Object:
    """Return the rows of a status with what one server says, at its place or at the end."""
    row = {"apiServerID": server, "encodingVersion": encoding, "decodableVersions": list(decodable)}
    if served:
        row["servedVersions"] = list(served)
    rows = list(status.get("storageVersions") or ())
    places = [index for index, each in enumerate(rows) if each.get("apiServerID") == server]
    if places:
        rows[places[0]] = row
    else:
        rows.append(row)
    return {**status, "storageVersions": rows}


def with_common_encoding_version(status: Object, generation: int, now: datetime) -> Object:
    """Return the status with the version that all servers encode in, if there is one, and the condition for it."""
    versions = {server.get("encodingVersion") for server in status["storageVersions"]}
    before = status.get("commonEncodingVersion")
    common = versions.pop() if len(versions) == 1 else None
    rest = {key: value for key, value in status.items() if key != "commonEncodingVersion"}
    said = {
        "type": ALL_EQUAL,
        "status": "True" if common else "False",
        "observedGeneration": generation,
        "reason": "CommonEncodingVersionSet" if common else "CommonEncodingVersionUnset",
        "message": "Common encoding version set" if common else "Common encoding version unset",
    }
    conditions = list(status.get("conditions") or ())
    if before and common and before != common:
        # Another version is a transition too, though the condition stays true.
        conditions = [each for each in conditions if each.get("type") != ALL_EQUAL]
    changed = {**rest, "conditions": with_condition(conditions, said, now)}
    return changed | ({"commonEncodingVersion": common} if common else {})
