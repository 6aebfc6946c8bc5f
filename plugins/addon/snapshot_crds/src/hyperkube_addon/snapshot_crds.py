"""snapshot-crds: VolumeSnapshot, VolumeSnapshotContent and VolumeSnapshotClass of ``snapshot.storage.k8s.io/v1``.

The controller csi-snapshotter begins when they are there. Definitions that are there already stay as they are.
Source of fields, columns and rules: github.com/kubernetes-csi/external-snapshotter ``client/apis/volumesnapshot/v1``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperkube.hookspecs import hookimpl
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

GROUP = "snapshot.storage.k8s.io"
_APPROVED = "https://github.com/kubernetes-csi/external-snapshotter/pull/814"
STRING: Object = {"type": "string"}
BOOLEAN: Object = {"type": "boolean"}
INTEGER: Object = {"type": "integer", "format": "int64"}
TIME: Object = {"type": "string", "format": "date-time"}
SIZE: Object = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
    "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
}
POLICY: Object = {"type": "string", "enum": ["Delete", "Retain"]}


def struct(required: Sequence[str] = (), rules: Sequence[Object] = (), **properties: Object) -> Object:
    """Return the schema of an object."""
    found: Object = {"type": "object", "properties": properties}
    if required:
        found["required"] = list(required)
    if rules:
        found["x-kubernetes-validations"] = list(rules)
    return found


def _immutable(name: str) -> Object:
    return {"rule": "self == oldSelf", "message": f"{name} is immutable"}


def _fixed(schema: Object, name: str) -> Object:
    return {**schema, "x-kubernetes-validations": [_immutable(name)]}


def _one_of(*names: str) -> Object:
    first, second = (f"has(self.{name})" for name in names)
    return {
        "type": "object",
        "oneOf": [{"required": [name]} for name in names],
        "x-kubernetes-validations": [
            {"rule": f"!has(oldSelf.{name}) || has(self.{name})", "message": f"{name} is required once set"}
            for name in names
        ]
        + [
            {
                "rule": f"({first} && !{second}) || (!{first} && {second})",
                "message": f"exactly one of {names[0]} and {names[1]} must be set",
            }
        ],
        "properties": {name: _fixed(STRING, name) for name in names},
    }


_ERROR = struct(message=STRING, time=TIME)
_SNAPSHOT = struct(
    ["spec"],
    apiVersion=STRING,
    kind=STRING,
    metadata={"type": "object"},
    spec=struct(
        ["source"],
        source=_one_of("persistentVolumeClaimName", "volumeSnapshotContentName"),
        volumeSnapshotClassName={
            **STRING,
            "x-kubernetes-validations": [
                {"rule": "size(self) > 0", "message": "volumeSnapshotClassName must not be the empty string when set"}
            ],
        },
    ),
    status=struct(
        boundVolumeSnapshotContentName=STRING,
        creationTime=TIME,
        error=_ERROR,
        readyToUse=BOOLEAN,
        restoreSize=SIZE,
        volumeGroupSnapshotName=STRING,
    ),
)
_REFERENCE = struct(
    rules=[{"rule": "has(self.name) && has(self.__namespace__)", "message": "both spec.volumeSnapshotRef.name and "
            "spec.volumeSnapshotRef.namespace must be set"}],
    apiVersion=STRING, fieldPath=STRING, kind=STRING, name=STRING, namespace=STRING, resourceVersion=STRING, uid=STRING,
)  # fmt: skip
_CONTENT = struct(
    ["spec"],
    apiVersion=STRING,
    kind=STRING,
    metadata={"type": "object"},
    spec=struct(
        ["deletionPolicy", "driver", "source", "volumeSnapshotRef"],
        [
            {
                "rule": "!has(oldSelf.sourceVolumeMode) || has(self.sourceVolumeMode)",
                "message": "sourceVolumeMode is required once set",
            }
        ],
        deletionPolicy=POLICY,
        driver=STRING,
        source=_one_of("volumeHandle", "snapshotHandle"),
        sourceVolumeMode=_fixed(STRING, "sourceVolumeMode"),
        volumeSnapshotClassName=STRING,
        volumeSnapshotRef=_REFERENCE,
    ),
    status=struct(
        creationTime=INTEGER,
        error=_ERROR,
        readyToUse=BOOLEAN,
        restoreSize={**INTEGER, "minimum": 0},
        snapshotHandle=STRING,
        volumeGroupSnapshotHandle=STRING,
    ),
)
_CLASS = struct(
    ["deletionPolicy", "driver"],
    apiVersion=STRING,
    kind=STRING,
    metadata={"type": "object"},
    deletionPolicy=POLICY,
    driver=STRING,
    parameters={"type": "object", "additionalProperties": STRING},
)


def definition(
    kind: str,
    short: Sequence[str],
    schema: Object,
    columns: Mapping[str, tuple[str, str]],
    *,
    scope: str,
    has_status: bool,
) -> Object:
    """Return a CustomResourceDefinition.

    Args:
        kind: the kind.
        short: its short names.
        schema: of its objects.
        columns: title → type and path of what tables show.
        scope: ``Namespaced`` or ``Cluster``.
        has_status: whether there is a subresource ``status``.
    """
    plural = f"{kind.lower()}es" if kind.endswith("s") else f"{kind.lower()}s"
    version: Object = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "additionalPrinterColumns": [
            {"name": title, "type": kind_, "jsonPath": path} for title, (kind_, path) in columns.items()
        ],
    }
    if has_status:
        version["subresources"] = {"status": {}}
    names = {
        "kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower(), "shortNames": list(short),
    }  # fmt: skip
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{GROUP}",
            "labels": {"addonmanager.kubernetes.io/mode": "EnsureExists"},
            "annotations": {"api-approved.kubernetes.io": _APPROVED},
        },
        "spec": {"group": GROUP, "names": names, "scope": scope, "versions": [version]},
    }


_AGE = {"Age": ("date", ".metadata.creationTimestamp")}
DEFINITIONS = (
    definition(
        "VolumeSnapshotClass",
        ["vsclass", "vsclasses"],
        _CLASS,
        {"Driver": ("string", ".driver"), "DeletionPolicy": ("string", ".deletionPolicy"), **_AGE},
        scope="Cluster",
        has_status=False,
    ),
    definition(
        "VolumeSnapshotContent",
        ["vsc", "vscs"],
        _CONTENT,
        {
            "ReadyToUse": ("boolean", ".status.readyToUse"),
            "RestoreSize": ("integer", ".status.restoreSize"),
            "DeletionPolicy": ("string", ".spec.deletionPolicy"),
            "Driver": ("string", ".spec.driver"),
            "VolumeSnapshotClass": ("string", ".spec.volumeSnapshotClassName"),
            "VolumeSnapshot": ("string", ".spec.volumeSnapshotRef.name"),
            "VolumeSnapshotNamespace": ("string", ".spec.volumeSnapshotRef.namespace"),
            **_AGE,
        },
        scope="Cluster",
        has_status=True,
    ),
    definition(
        "VolumeSnapshot",
        ["vs"],
        _SNAPSHOT,
        {
            "ReadyToUse": ("boolean", ".status.readyToUse"),
            "SourcePVC": ("string", ".spec.source.persistentVolumeClaimName"),
            "SourceSnapshotContent": ("string", ".spec.source.volumeSnapshotContentName"),
            "RestoreSize": ("string", ".status.restoreSize"),
            "SnapshotClass": ("string", ".spec.volumeSnapshotClassName"),
            "SnapshotContent": ("string", ".status.boundVolumeSnapshotContentName"),
            "CreationTime": ("date", ".status.creationTime"),
            **_AGE,
        },
        scope="Namespaced",
        has_status=True,
    ),
)


class SnapshotCrds(Plugin):
    """Consists of the three definitions."""

    @hookimpl
    def addon_objects(self) -> Sequence[Object]:
        """Return them."""
        return DEFINITIONS
