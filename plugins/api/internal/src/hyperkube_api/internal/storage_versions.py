"""Storage versions: in which version each API server stores a resource.

Source: kubernetes pkg/registry/apiserverinternal/storageversion/strategy.go, pkg/apis/apiserverinternal/validation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import Version
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call, ResourceSpec
from hyperkube.machinery.field import ROOT, FieldError, invalid
from hyperkube.machinery.objects import Object

V1ALPHA1 = Version("internal.apiserver.k8s.io", "v1alpha1", "hyperkube_api.internal.v1alpha1")
STATUS = ROOT.child("status")


class StorageVersionStrategy(StatusStrategy):
    """What API servers say of how they store a resource."""

    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that each server decodes what it encodes, and that the common version is common."""
        status = obj.get("status") or {}
        servers = status.get("storageVersions") or []
        errors: list[FieldError] = []
        for index, server in enumerate(servers):
            decodable, encoding = server.get("decodableVersions") or [], server.get("encodingVersion") or ""
            if encoding not in decodable:
                at = STATUS.child("storageVersions").index(index).child("decodableVersions")
                errors.append(invalid(at, decodable, f"decodableVersions must include encodingVersion {encoding}"))
        common = common_encoding_version(servers)
        said = status.get("commonEncodingVersion")
        if common is None and said is not None:
            text = "should be nil if servers do not agree on the same encoding version, or if there is no server"
            errors.append(
                invalid(STATUS.child("commonEncodingVersion"), said, f"{text} reporting the supported versions yet")
            )
        elif common is not None and said != common:
            text = f"the actual common encoding version is {common}"
            errors.append(invalid(STATUS.child("commonEncodingVersion"), said, text))
        return errors


def common_encoding_version(servers: Sequence[Object]) -> str | None:
    """Return the version in which all servers store the resource, or None if they do not agree."""
    versions = {str(server.get("encodingVersion") or "") for server in servers}
    return versions.pop() if len(versions) == 1 else None


def storage_version_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the common version, and each server's."""
    status = obj.get("status") or {}
    rows = [
        f"{row.get('apiServerID', '')}={row.get('encodingVersion', '')}" for row in status.get("storageVersions") or ()
    ]
    return [
        cells.name(obj),
        status.get("commonEncodingVersion") or "<unset>",
        cells.joined(rows, "<unset>"),
        cells.age(obj, now),
    ]


def storage_versions() -> ResourceSpec:
    """Return the specification of the resource ``storageversions``."""
    return V1ALPHA1.resource(
        "storageversions",
        "StorageVersion",
        namespaced=False,
        served=False,
        storage_prefix="storageversions",
        storage_version_hash="c8YZt5U0nPk=",
        strategy=StorageVersionStrategy(),
        columns=(NAME, column("CommonEncodingVersion"), column("StorageVersions"), AGE),
        cells=storage_version_cells,
        subresources=(V1ALPHA1.status("StorageVersion"),),
    )
