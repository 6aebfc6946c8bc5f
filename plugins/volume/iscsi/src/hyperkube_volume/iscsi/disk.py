"""What an ``iscsi`` volume says, and what is kept of it beside the mount: everything but secrets.

Source: kubernetes ``pkg/volume/iscsi/iscsi.go``, ``iscsi_util.go`` (persistISCSI).
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

_ENDING = ".json"
PORT = 3260


@dataclass(frozen=True, slots=True)
class Disk:
    """A LUN.

    Attributes:
        portals: addresses with ports, the first one names the volume.
        iqn: the target.
        lun: its number there.
        iface: the interface of the initiator.
        initiator: the name that the initiator has for this volume; empty for that of the interface.
        name: of the volume.
        discovery_chap, session_chap: whether discovery and sessions are authenticated.
    """

    portals: tuple[str, ...]
    iqn: str
    lun: str
    iface: str = "default"
    initiator: str = ""
    name: str = ""
    discovery_chap: bool = False
    session_chap: bool = False

    @property
    def folder(self) -> str:
        """What the volume is called below its interface's folder."""
        return f"{self.portals[0]}-{self.iqn}-lun-{self.lun}"

    @property
    def own_iface(self) -> str:
        """The interface that is used: one of its own for a volume with an initiator's name."""
        return f"{self.portals[0]}:{self.name}" if self.initiator else self.iface


def disk_of(volume: Object, name: str) -> Disk:
    """Return the LUN of a volume, or of the spec of a PersistentVolume.

    Raises:
        VolumeFailed: it names no target.
    """
    source = volume["iscsi"]
    portal, iqn = str(source.get("targetPortal") or ""), str(source.get("iqn") or "")
    if not portal or not iqn:
        raise VolumeFailed("iscsi: the volume names no target portal, or no iqn")
    return Disk(
        portals=tuple(dict.fromkeys(_with_port(each) for each in (portal, *(source.get("portals") or ())))),
        iqn=iqn,
        lun=str(int(source.get("lun") or 0)),
        iface=str(source.get("iscsiInterface") or "default"),
        initiator=str(source.get("initiatorName") or ""),
        name=name,
        discovery_chap=bool(source.get("chapAuthDiscovery")),
        session_chap=bool(source.get("chapAuthSession")),
    )


def _with_port(portal: str) -> str:
    has_port = "]:" in portal if portal.startswith("[") else ":" in portal
    return portal if has_port else f"{portal}:{PORT}"


def save(disk: Disk, folder: Path) -> None:
    """Keep a disk beside the folder that it is mounted on.

    Raises:
        VolumeFailed: it cannot be written.
    """
    file = record_of(folder)
    try:
        file.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(disk)), encoding="utf-8")
    except OSError as error:
        raise VolumeFailed(f"iscsi: create {file} err {error.strerror}") from error


def load(folder: Path) -> Disk | None:
    """Return the disk that was kept beside a folder; None if none was.

    Raises:
        VolumeFailed: it cannot be read.
    """
    file = record_of(folder)
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return Disk(**{**found, "portals": tuple(found["portals"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise VolumeFailed(f"iscsi: decode {file}: {error}") from error


def record_of(folder: Path) -> Path:
    """Return where the disk of a folder is kept."""
    return folder.with_name(f"{folder.name}{_ENDING}")


def disks_below(plugin_dir: Path) -> dict[Path, Disk]:
    """Return folder → disk of all disks that are in use on the node."""
    folders = (file.with_name(file.name.removesuffix(_ENDING)) for file in sorted(plugin_dir.glob(f"*/*{_ENDING}")))
    return {folder: disk for folder in folders if (disk := load(folder)) is not None}
