"""What an ``iscsi`` volume says, and what is kept of it beside the mount: everything but secrets.

Source: kubernetes ``pkg/volume/iscsi/iscsi.go``, ``iscsi_util.go`` (persistISCSI).
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from hyperkube_lib.volume_mount import read_record, record_of, write_record

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

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
    write_record(record_of(folder), asdict(disk), "iscsi: create {file} err {error}")


def load(folder: Path) -> Disk | None:
    """Return the disk that was kept beside a folder; None if none was.

    Raises:
        VolumeFailed: it cannot be read.
    """
    return read_record(
        record_of(folder), lambda found: Disk(**{**found, "portals": tuple(found["portals"])}), "iscsi: "
    )


def disks_below(plugin_dir: Path) -> dict[Path, Disk]:
    """Return folder → disk of all disks that are in use on the node."""
    folders = (file.with_suffix("") for file in sorted(plugin_dir.glob("*/*.json")))
    return {folder: disk for folder in folders if (disk := load(folder)) is not None}
