"""Files of a volume that are made from API objects: which there are, and how they change all at once.

The folder holds a link ``..data`` to a folder with the files, and a link per visible name through it; a change makes a
new folder and moves ``..data`` over, so that a reader sees all of the old or all of the new.
Source of the layout: kubernetes ``pkg/volume/util/atomic_writer.go``.
"""

from __future__ import annotations

import base64
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from hyperkube.hookspecs.volume import VolumeFailed, VolumeRequest
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import Object, name_of, namespace_of

DATA = "..data"
DEFAULT_MODE = 0o644
LONGEST_NAME = 255
GROUP_READS = 0o440
IN_MEMORY_MODE, ON_DISK_MODE = 0o1777, 0o777
"""Permission bits of volumes: Kubernetes has secrets, projections and downward API on a tmpfs, config maps on disk."""


class PathRefused(VolumeFailed, ValueError):
    """No file can have the path that the pod asks for: trying again is no use."""


@dataclass(frozen=True, slots=True)
class File:
    """One file: its content, its permission bits, and the user it belongs to, None for the kubelet's own."""

    content: bytes
    mode: int
    user: int | None = None


Files = dict[str, File]


def write_files(folder: str, files: Mapping[str, File], *, folder_mode: int = IN_MEMORY_MODE) -> bool:
    """Make `files` (relative path → file) the content of `folder`; tell whether anything changed.

    Args:
        folder: what users of the pod may list and enter.
        files: the content.
        folder_mode: the permission bits of the folder itself.

    Raises:
        PathRefused: a path leads out of the folder, or cannot be that of a file.
    """
    root = Path(folder)
    root.chmod(folder_mode)
    for path in files:
        _check_path(path)
    current = root / DATA
    if current.is_symlink() and _read(current) == {path: _comparable(file) for path, file in files.items()}:
        return False
    fresh = _stamped_folder(root)
    try:
        _fill(fresh, files)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    old = current.readlink() if current.is_symlink() else None
    link = root / "..data_tmp"
    link.unlink(missing_ok=True)
    link.symlink_to(fresh.name)
    link.replace(current)
    _link_names(root, {Path(path).parts[0]: file.user for path, file in files.items()})
    if old:
        shutil.rmtree(root / old, ignore_errors=True)
    return True


def _stamped_folder(root: Path) -> Path:
    """Make a folder named after the time, as tools that look for the newest content expect it."""
    stamp = SystemClock().now().strftime("..%Y_%m_%d_%H_%M_%S.")
    while True:
        fresh = root / f"{stamp}{secrets.randbelow(1 << 32)}"
        try:
            fresh.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return fresh


def _check_path(path: str) -> None:
    parts = Path(path).parts
    if not parts or Path(path).is_absolute() or ".." in parts or path.startswith(".."):
        raise PathRefused(f"invalid path {path!r}: must be relative and not contain '..'")
    try:
        lengths = [len(os.fsencode(part)) for part in parts]
    except UnicodeError as error:
        raise PathRefused(f"invalid path {path!r}: {error}") from error
    if "\0" in path:
        raise PathRefused(f"invalid path {path!r}: must not contain NUL")
    if max(lengths) > LONGEST_NAME:
        raise PathRefused(f"invalid path {path!r}: no name in it may be longer than {LONGEST_NAME} bytes")


def _fill(folder: Path, files: Mapping[str, File]) -> None:
    folder.chmod(0o755)
    for path, file in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(file.content)
        target.chmod(file.mode)
        if file.user is not None and os.geteuid() == 0:
            os.chown(target, file.user, -1)


def _comparable(file: File) -> File:
    """Return what is compared of a file: the group of the pod may have been allowed to read it since."""
    return File(file.content, file.mode | GROUP_READS)


def _read(folder: Path) -> Files:
    found: Files = {}
    for where, _, names in os.walk(folder.resolve()):
        for name in names:
            path = Path(where) / name
            relative = str(path.relative_to(folder.resolve()))
            found[relative] = _comparable(File(path.read_bytes(), path.stat().st_mode & 0o777))
    return found


def _link_names(root: Path, names: Mapping[str, int | None]) -> None:
    for entry in root.iterdir():
        if entry.is_symlink() and not entry.name.startswith("..") and entry.name not in names:
            entry.unlink()
    for name, user in names.items():
        link = root / name
        if not link.is_symlink():
            link.symlink_to(Path(DATA) / name)
            if user is not None and os.geteuid() == 0:
                os.lchown(link, user, -1)


def clear_folder(folder: str) -> None:
    """Remove a volume's folder with everything in it; no error if it is gone."""
    shutil.rmtree(folder, ignore_errors=True)


def config_map_data(obj: Object) -> dict[str, bytes]:
    """Return the data of a ConfigMap, text and binary."""
    data = {key: value.encode() for key, value in (obj.get("data") or {}).items()}
    return data | {key: base64.b64decode(value) for key, value in (obj.get("binaryData") or {}).items()}


def secret_data(obj: Object) -> dict[str, bytes]:
    """Return the decoded data of a Secret."""
    return {key: base64.b64decode(value) for key, value in (obj.get("data") or {}).items()}


def keyed_files(source: Object, data: Mapping[str, bytes], default_mode: int, what: str) -> Files:
    """Return the files of a source with ``items``, or all keys without them.

    Raises:
        VolumeFailed: an item's key is not there and the source is not optional.
    """
    items = source.get("items")
    if not items:
        return {key: File(content, default_mode) for key, content in data.items()}
    files: Files = {}
    for item in items:
        if item["key"] in data:
            files[item["path"]] = File(data[item["key"]], item.get("mode") or default_mode)
        elif not source.get("optional"):
            raise VolumeFailed(f"references non-existent {what} key: {item['key']}")
    return files


def config_map_files(request: VolumeRequest, source: Object, default_mode: int) -> Files:
    """Return the files of a ``configMap`` source; none when an optional one is missing.

    Raises:
        NotFound: the ConfigMap is not there.
        VolumeFailed: a key is not there.
    """
    try:
        obj = request.get_config_map(namespace_of(request.pod), source["name"])
    except NotFound:
        if source.get("optional"):
            return {}
        raise
    return keyed_files(source, config_map_data(obj), default_mode, "config")


def secret_files(request: VolumeRequest, source: Object, name: str, default_mode: int) -> Files:
    """Return the files of a ``secret`` source; none when an optional one is missing.

    Raises:
        NotFound: the Secret is not there.
        VolumeFailed: a key is not there.
    """
    try:
        obj = request.get_secret(namespace_of(request.pod), name)
    except NotFound:
        if source.get("optional"):
            return {}
        raise
    return keyed_files(source, secret_data(obj), default_mode, "secret")


def downward_files(request: VolumeRequest, items: Iterable[Object], default_mode: int) -> Files:
    """Return the files of a ``downwardAPI`` source.

    Raises:
        VolumeFailed: a field cannot be asked for.
    """
    from hyperkube_lib.pod_fields import FieldUnknown, field_value, resource_value

    files: Files = {}
    allocatable = (request.node.get("status") or {}).get("allocatable") or {}
    for item in items:
        try:
            if "fieldRef" in item:
                text = field_value(item["fieldRef"]["fieldPath"], request.pod, {})
            else:
                reference = item["resourceFieldRef"]
                text = resource_value(reference, _container(request.pod, reference["containerName"]), allocatable)
        except FieldUnknown as error:
            raise VolumeFailed(str(error)) from error
        files[item["path"]] = File(text.encode(), item.get("mode") or default_mode)
    return files


def _container(pod: Object, name: str) -> Object:
    for container in [*pod["spec"]["containers"], *(pod["spec"].get("initContainers") or [])]:
        if container["name"] == name:
            found: Object = container
            return found
    raise VolumeFailed(f"container {name} of pod {name_of(pod)!r} not found")
