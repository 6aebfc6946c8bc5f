"""The ``podCertificate`` sources of a pod's projected volumes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of


class Projection(NamedTuple):
    """One source, by the pod it belongs to and its place among the sources of a volume."""

    namespace: str
    pod_name: str
    pod_uid: str
    volume: str
    source: int


def projections(pod: Object) -> Iterator[tuple[Projection, Object]]:
    """Yield the sources of a pod, each with what it says."""
    for volume in pod["spec"].get("volumes") or ():
        for index, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            if source.get("podCertificate") is not None:
                where = Projection(namespace_of(pod), name_of(pod), str(uid_of(pod)), str(volume["name"]), index)
                yield where, source["podCertificate"]
