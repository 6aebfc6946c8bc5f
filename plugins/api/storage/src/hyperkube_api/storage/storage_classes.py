"""StorageClasses: where volumes come from.

Source: kubernetes pkg/apis/storage, pkg/registry/storage/storageclass, pkg/printers.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from hyperkube_api.core.nodes.deprecated_labels import DEPRECATED_LABELS
from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.validation import optional_one_of, unchanged
from hyperkube_api.storage.parameters import validate_parameters
from hyperkube_api.storage.versions import V1

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery import names
from hyperkube.machinery.errors import MOST_FIELD_ERRORS
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate, invalid, required
from hyperkube.machinery.objects import Object, annotations_of

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
DEFAULT_CLASS_BETA = "storageclass.beta.kubernetes.io/is-default-class"
RECLAIM_POLICIES = ("Delete", "Retain")
BINDING_MODES = ("Immediate", "WaitForFirstConsumer")
_TERMS = ROOT.child("allowedTopologies")


def default_storage_class(storage_class: Object) -> None:
    """Fill in a storage class."""
    if storage_class.get("reclaimPolicy") is None:
        storage_class["reclaimPolicy"] = "Delete"
    if storage_class.get("volumeBindingMode") is None:
        storage_class["volumeBindingMode"] = "Immediate"


def validate_storage_class(obj: Object) -> list[FieldError]:
    """Check a storage class."""
    provisioner = (obj.get("provisioner") or "").lower()
    at = ROOT.child("provisioner")
    errors = [required(at)] if not provisioner else []
    if provisioner:
        errors += [invalid(at, provisioner, text) for text in names.qualified_name(provisioner)]
    errors += validate_parameters(ROOT.child("parameters"), obj.get("parameters") or {})
    for member, known in (("reclaimPolicy", RECLAIM_POLICIES), ("volumeBindingMode", BINDING_MODES)):
        errors += optional_one_of(ROOT.child(member), obj.get(member), known)
    return errors + _topologies(ROOT.child("allowedTopologies"), obj.get("allowedTopologies") or [])


def _topologies(path: Path, terms: list[Object]) -> list[FieldError]:
    """Check that no two terms are equal; Kubernetes starts with as many empty terms as there are terms."""
    errors: list[FieldError] = []
    seen: Counter[frozenset[tuple[str, frozenset[str]]]] = Counter({frozenset(): len(terms)})
    for index, one in enumerate(terms):
        at = path.index(index).child("matchLabelExpressions")
        keys: set[str] = set()
        wanted: dict[str, frozenset[str]] = {}
        for number, item in enumerate(one.get("matchLabelExpressions") or ()):
            errors += _topology(at.index(number), item, keys)
            wanted[item.get("key") or ""] = frozenset(item.get("values") or ())
        term = frozenset(wanted.items())
        errors += [duplicate(at, "")] * min(seen[term], MOST_FIELD_ERRORS)
        seen[term] += 1
        if len(errors) > MOST_FIELD_ERRORS:  # as many as there are pairs
            break
    return errors


def _topology(path: Path, item: Object, keys: set[str]) -> list[FieldError]:
    key, values = item.get("key") or "", item.get("values") or []
    errors: list[FieldError] = []
    if not values:
        errors.append(required(path.child("values")))
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value in seen:
            errors.append(duplicate(path.child("values").index(index), value))
        seen.add(value)
    errors += [invalid(path.child("key"), key, text) for text in names.qualified_name(key)]
    if key in keys:
        errors.append(duplicate(path.child("key"), key))
    keys.add(key)
    return errors


def validate_storage_class_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a storage class."""
    errors = validate_storage_class(obj)
    for member in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        errors += unchanged(ROOT.child(member), obj.get(member), old.get(member))
    return errors


def storage_class_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the provisioner and its policies; the default class is marked."""
    default = any(annotations_of(obj).get(key) == "true" for key in (DEFAULT_CLASS, DEFAULT_CLASS_BETA))
    return [
        f"{cells.name(obj)} (default)" if default else cells.name(obj),
        obj.get("provisioner") or "",
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        cells.age(obj, now),
    ]


class StorageClassStrategy(Strategy):
    """Where volumes come from."""

    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Fill in policy and mode."""
        default_storage_class(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check provisioner, parameters and topology."""
        return validate_storage_class(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that what volumes depend on stayed."""
        return validate_storage_class_update(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of deprecated labels in the topology."""
        return [
            f"{_TERMS.index(index).child('matchLabelExpressions').index(number).child('key')}: "
            f"{DEPRECATED_LABELS[item['key']]}"
            for index, term in enumerate(obj.get("allowedTopologies") or ())
            for number, item in enumerate(term.get("matchLabelExpressions") or ())
            if item.get("key") in DEPRECATED_LABELS
        ]


def storage_classes() -> ResourceSpec:
    """Return the specification of the resource ``storageclasses``."""
    return V1.resource(
        "storageclasses",
        "StorageClass",
        namespaced=False,
        short_names=("sc",),
        storage_prefix="storageclasses",
        storage_version_hash="K+m6uJwbjGY=",
        strategy=StorageClassStrategy(),
        columns=(
            NAME,
            column("Provisioner", field="provisioner"),
            column("ReclaimPolicy", field="reclaimPolicy"),
            column("VolumeBindingMode", field="volumeBindingMode"),
            column("AllowVolumeExpansion", field="allowVolumeExpansion"),
            AGE,
        ),
        cells=storage_class_cells,
    )
