"""Names of cgroups: a path of parts within, a path of folders for cgroupfs, a unit of slices for systemd.

Source: kubernetes ``pkg/kubelet/cm/cgroup_manager_linux.go`` (ToCgroupfs, ToSystemd, ParseSystemdToCgroupName).
"""

from __future__ import annotations

from collections.abc import Sequence

CgroupName = tuple[str, ...]
"""The parts of a cgroup's name; the empty name is the root: ``("kubepods", "burstable", "pod1234")``."""
ROOT: CgroupName = ()
SYSTEMD_SUFFIX = ".slice"
NODE_ALLOCATABLE = "kubepods"
POD_PREFIX = "pod"
CGROUPFS, SYSTEMD = "cgroupfs", "systemd"
DRIVERS = (CGROUPFS, SYSTEMD)


def new_cgroup_name(base: CgroupName, *parts: str) -> CgroupName:
    """Return a name below `base`.

    Raises:
        ValueError: a part has a ``/``, or a ``_``, into which systemd names turn the ``-`` of others.
    """
    for part in parts:
        if "/" in part or "_" in part:
            raise ValueError(f"invalid character in component {part!r} of CgroupName")
    return (*base, *parts)


def to_cgroupfs(name: CgroupName) -> str:
    """Return ``/kubepods/burstable/pod1234``."""
    return "/" + "/".join(name)


def parse_cgroupfs(name: str) -> CgroupName:
    """Return the parts of ``/kubepods/burstable``."""
    return tuple(part for part in name.split("/") if part)


def to_systemd(name: CgroupName) -> str:
    """Return the folders of the slices: ``/kubepods.slice/kubepods-pod1234_5678.slice``."""
    if not name or name == ("",):
        return "/"
    return expand_slice(_joined(map(escape_systemd, name)) + SYSTEMD_SUFFIX)


def parse_systemd(name: str) -> CgroupName:
    """Return the parts of the last slice of a path: those of ``kubepods-burstable-pod1_2.slice`` have no escapes."""
    base = name.rstrip("/").rpartition("/")[2].removesuffix(SYSTEMD_SUFFIX)
    return tuple(unescape_systemd(part) for part in base.split("-") if part)


def escape_systemd(part: str) -> str:
    """Return a part as it stands in the name of a slice, where ``-`` divides parts."""
    return part.replace("-", "_")


def unescape_systemd(part: str) -> str:
    """Undo `escape_systemd`."""
    return part.replace("_", "-")


def expand_slice(name: str) -> str:
    """Return the path of a slice: ``a-b.slice`` lies in ``/a.slice``, its folder is ``/a.slice/a-b.slice``.

    Raises:
        ValueError: `name` is not one of a slice.

    Source: systemd.slice(5); libcontainer ``systemd/common.go`` (ExpandSlice).
    """
    stem = name.removesuffix(SYSTEMD_SUFFIX)
    if not name.endswith(SYSTEMD_SUFFIX) or "/" in stem or not stem:
        raise ValueError(f"invalid slice name: {name}")
    if stem == "-":
        return "/"
    parts = stem.split("-")
    if not all(parts):
        raise ValueError(f"invalid slice name: {name}")
    return "/" + "/".join(_joined(parts[: count + 1]) + SYSTEMD_SUFFIX for count in range(len(parts)))


def driver_path(name: CgroupName, driver: str) -> str:
    """Return the path of a cgroup below the mount of its hierarchy, as `driver` lays it out."""
    return to_systemd(name) if driver == SYSTEMD else to_cgroupfs(name)


def parse_driver_path(path: str, driver: str) -> CgroupName:
    """Return the name of the cgroup at a path below the mount of its hierarchy."""
    return parse_systemd(path) if driver == SYSTEMD else parse_cgroupfs(path)


def show_cgroup_name(name: CgroupName) -> str:
    """Return a name as it stands in messages: ``["kubepods" "burstable"]``."""
    return "[" + " ".join(f'"{part}"' for part in name) + "]"


def pod_cgroup_part(uid: str) -> str:
    """Return the last part of a pod's cgroup name."""
    return f"{POD_PREFIX}{uid}"


def _joined(parts: Sequence[str] | map[str]) -> str:
    return "-".join(parts)
