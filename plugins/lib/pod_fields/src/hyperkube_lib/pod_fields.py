"""A pod's own fields and resources as text, for variables and downward API files.

Sources: kubernetes ``pkg/fieldpath/fieldpath.go`` and ``pkg/api/v1/resource/helpers.go``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from hyperkube.machinery import quantity
from hyperkube.machinery.objects import Object, annotations_of, labels_of, metadata, name_of, namespace_of, uid_of

_SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['(.*)'\]")


class FieldUnknown(ValueError):
    """A field or resource that cannot be asked for."""


def field_value(path: str, pod: Object, ips: Mapping[str, str]) -> str:
    """Return what a ``fieldRef`` stands for.

    Args:
        path: e.g. ``metadata.labels['app']``.
        pod: whose field.
        ips: ``status.podIP``, ``status.podIPs``, ``status.hostIP``, ``status.hostIPs``, as far as they are known.

    Raises:
        FieldUnknown: no such field can be asked for.
    """
    if path in ips:
        return ips[path]
    subscript = _SUBSCRIPT.fullmatch(path)
    if subscript:
        values = labels_of(pod) if subscript[1] == "labels" else annotations_of(pod)
        return str(values.get(subscript[2], ""))
    known: dict[str, Callable[[], object]] = {
        "metadata.name": lambda: name_of(pod),
        "metadata.namespace": lambda: namespace_of(pod),
        "metadata.uid": lambda: uid_of(pod),
        "metadata.labels": lambda: format_map(labels_of(pod)),
        "metadata.annotations": lambda: format_map(annotations_of(pod)),
        "metadata.generateName": lambda: metadata(pod).get("generateName", ""),
        "spec.nodeName": lambda: pod["spec"].get("nodeName", ""),
        "spec.serviceAccountName": lambda: pod["spec"].get("serviceAccountName", ""),
    }
    if path not in known:
        raise FieldUnknown(f"unsupported fieldPath: {path}")
    return str(known[path]())


def format_map(values: Mapping[str, str]) -> str:
    """Write labels or annotations one per line, sorted, with quoted values."""
    lines = []
    for key in sorted(values):
        quoted = values[key].replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        lines.append(f'{key}="{quoted}"')
    return "\n".join(lines)


def resource_value(reference: Object, container: Object, allocatable: Mapping[str, str]) -> str:
    """Return what a ``resourceFieldRef`` stands for, in its divisor, rounded up; a missing limit is the node's.

    Raises:
        FieldUnknown: no such resource can be asked for.
    """
    kind, _, resource = str(reference["resource"]).partition(".")
    if kind not in {"limits", "requests"} or not resource:
        raise FieldUnknown(f"unsupported container resource : {reference['resource']}")
    declared = (container.get("resources") or {}).get(kind) or {}
    amount = declared.get(resource)
    if amount is None and kind == "requests":
        amount = ((container.get("resources") or {}).get("limits") or {}).get(resource, "0")
    if amount is None:
        amount = allocatable.get(resource, "0")
    divisor = quantity.parse(str(reference.get("divisor") or "1"))
    if divisor.is_zero:
        divisor = quantity.parse("1")
    if resource == "cpu":
        return str(-(-quantity.parse(amount).milli_value() // divisor.milli_value()))
    return str(-(-quantity.parse(amount).value() // divisor.value()))
