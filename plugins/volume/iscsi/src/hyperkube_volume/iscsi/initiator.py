"""The node's initiator: ``iscsiadm`` finds targets and logs in, the kernel shows the LUNs.

Passwords never stand on a command line: they go into the records that ``iscsiadm`` keeps, which only root can read.
Source: kubernetes ``pkg/volume/iscsi/iscsi_util.go`` (AttachDisk, DetachDisk, cloneIface).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from hyperkube_lib.volume_mount import Finished, Programs, multipath_of
from hyperkube_volume.iscsi.disk import Disk

from hyperkube.hookspecs.volume import VolumeFailed

WAIT_SECONDS = 10
RECORDS = ("etc/iscsi", "var/lib/iscsi")
_DISCOVERY = tuple(
    f"discovery.sendtargets.auth.{word}" for word in ("username", "password", "username_in", "password_in")
)
_NOTHING_FOUND = 21
"""What iscsiadm ends with when there is no such session or record (ISCSI_ERR_NO_OBJS_FOUND)."""
_SESSION = tuple(f"node.session.auth.{word}" for word in ("username", "password", "username_in", "password_in"))


class Initiator:
    """Logs in to targets and out; thread-safe."""

    def __init__(self, programs: Programs, sleep: Callable[[float], None], root: Path = Path("/")) -> None:
        """Run `programs`, and find the kernel's and iscsiadm's files below `root`."""
        self._programs = programs
        self._sleep = sleep
        self._root = root
        self._targets: dict[str, threading.Lock] = {}
        """Target → what lets none log out of it while another volume of it logs in."""

    def attach(self, disk: Disk, secret: Mapping[str, str]) -> str:
        """Return the device of a disk, of several paths to it the one that stands for all.

        Raises:
            VolumeFailed: no portal shows it.
        """
        transport = self._transport(disk)
        with self._targets.setdefault(disk.iqn, threading.Lock()):
            if disk.initiator:
                self._clone_iface(disk)
            found, problem = [], ""
            for portal in disk.portals:
                try:
                    found.append(self._path(disk, portal, secret, transport))
                except VolumeFailed as error:
                    problem = str(error)
            if not found:
                if disk.initiator:
                    self._iscsiadm("iface", "-I", disk.own_iface, "-o", "delete")
                raise VolumeFailed(f"failed to get any path for iscsi disk, last err seen:\n{problem}")
        return next((dm for path in found if (dm := multipath_of(path, self._root))), found[0])

    def detach(self, disk: Disk, in_use: Iterable[Disk]) -> None:
        """Log out of a disk's target, unless another of its LUNs is in use.

        Args:
            disk: whose device nothing has any more.
            in_use: the disks that are.

        Raises:
            VolumeFailed: the target does not let go.
        """
        with self._targets.setdefault(disk.iqn, threading.Lock()):
            mine = (disk.iqn, disk.own_iface)
            kept = {portal for each in in_use if (each.iqn, each.own_iface) == mine for portal in each.portals}
            for portal in disk.portals:
                if portal in kept:
                    continue
                where = ("-p", portal, "-T", disk.iqn, "-I", disk.own_iface)
                done = self._iscsiadm("node", *where, "--logout")
                if done.code not in {0, _NOTHING_FOUND}:
                    raise VolumeFailed(f"iscsi: failed to detach disk Error: {done.output}")
                self._iscsiadm("node", *where, "-o", "delete")
            if disk.initiator and not kept:
                self._iscsiadm("iface", "-I", disk.own_iface, "-o", "delete")

    # logging in

    def _path(self, disk: Disk, portal: str, secret: Mapping[str, str], transport: str) -> str:
        host = self._hosts(disk.iqn).get(portal)
        if host is None:
            self._login(disk, portal, secret)
            host = self._hosts(disk.iqn).get(portal)
            if host is None:
                raise VolumeFailed(f"Could not get SCSI host number for portal {portal} after logging in")
        self._scan(host, disk.lun)
        place = "ip" if transport == "tcp" else "pci-*-ip"
        where = portal.replace("[", "").replace("]", "")
        pattern = f"dev/disk/by-path/{place}-{where}-iscsi-{disk.iqn}-lun-{disk.lun}"
        for second in range(WAIT_SECONDS + 1):
            if second:
                self._sleep(1.0)
            if found := sorted(self._root.glob(pattern)):
                return str(found[0])
        raise VolumeFailed(f"Could not attach disk: Timeout after {WAIT_SECONDS}s")

    def _login(self, disk: Disk, portal: str, secret: Mapping[str, str]) -> None:
        discovery = ("-t", "sendtargets", "-p", portal, "-I", disk.own_iface)
        self._iscsiadm("discoverydb", *discovery, "-o", "new")
        if disk.discovery_chap:
            line = ("-o", "update", "-n", "discovery.sendtargets.auth.authmethod", "-v", "CHAP")
            self._must("failed to update discoverydb with CHAP, output:", "discoverydb", *discovery, *line)
            self._put(f"send_targets/{_with_comma(portal)}/st_config", _DISCOVERY, secret)
        done = self._iscsiadm("discoverydb", *discovery, "--discover")
        if done.code:
            self._iscsiadm("discoverydb", *discovery, "-o", "delete")
            why = f"output: {done.output}, err {done.problem}"
            raise VolumeFailed(f"iscsi: failed to sendtargets to portal {portal} {why}")
        node = ("-p", portal, "-T", disk.iqn, "-I", disk.own_iface)
        if disk.session_chap:
            line = ("-o", "update", "-n", "node.session.auth.authmethod", "-v", "CHAP")
            self._must("failed to update node with CHAP, output:", "node", *node, *line)
            self._put(f"nodes/{disk.iqn}/{_with_comma(portal)},*/{disk.own_iface}", _SESSION, secret)
        done = self._iscsiadm("node", *node, "--login")
        if done.code:
            self._iscsiadm("node", *node, "-o", "delete")
            raise VolumeFailed(f"iscsi: failed to attach disk: Error: {done.output} ({done.problem})")
        # A node that comes up again must not wait for a target that no pod of it uses.
        self._iscsiadm("node", "-p", portal, "-T", disk.iqn, "-o", "update", "-n", "node.startup", "-v", "manual")

    def _put(self, pattern: str, keys: Iterable[str], secret: Mapping[str, str]) -> None:
        """Write what a secret holds into iscsiadm's records."""
        wanted = {key: secret[key] for key in keys if secret.get(key)}
        if not wanted:
            return
        files = [path for folder in RECORDS for path in self._root.glob(f"{folder}/{pattern}") if path.is_file()]
        if not files:
            places = " or ".join(f"/{each}/{pattern}" for each in RECORDS)
            raise VolumeFailed(f"iscsi: no record of iscsiadm at {places}")
        for path in files:
            lines = path.read_text(encoding="utf-8").splitlines()
            kept = [line for line in lines if line.partition(" = ")[0] not in wanted]
            added = [f"{key} = {value}" for key, value in wanted.items()]
            end = next((at for at, line in enumerate(kept) if line.startswith("# END RECORD")), len(kept))
            path.chmod(0o600)
            path.write_text("\n".join([*kept[:end], *added, *kept[end:], ""]), encoding="utf-8")

    # interfaces

    def _transport(self, disk: Disk) -> str:
        done = self._must("could not read iface", "iface", "-I", disk.iface, "-o", "show")
        found = _record(done.output).get("iface.transport_name", "")
        if not found:
            raise VolumeFailed(f"Could not parse iface file for {disk.iface}")
        return found

    def _clone_iface(self, disk: Disk) -> None:
        """Give the volume an interface of its own, as that which it names but for the initiator's name."""
        done = self._must("failed to show iface records:", "iface", "-I", disk.iface, "-o", "show")
        params = {**_record(done.output), "iface.initiatorname": disk.initiator}
        created = self._iscsiadm("iface", "-I", disk.own_iface, "-o", "new")
        if created.code and "exists" not in created.output:
            raise VolumeFailed(f"iscsi: failed to create new iface: {created.output} ({created.problem})")
        for key, value in params.items():
            if key != "iface.iscsi_ifacename":
                line = ("-I", disk.own_iface, "-o", "update", "-n", key, "-v", value)
                self._must(f"failed to update iface records of {disk.own_iface}:", "iface", *line)

    # the kernel

    def _hosts(self, iqn: str) -> dict[str, int]:
        """Return portal → number of the SCSI host, of the sessions with a target."""
        found = {}
        for session in self._root.glob("sys/class/iscsi_host/host*/device/session*"):
            if not any(_text(name) == iqn for name in session.glob("iscsi_session/session*/targetname")):
                continue
            host = int(session.parent.parent.name.removeprefix("host"))
            for connection in session.glob("connection*/iscsi_connection/connection*"):
                address, port = (_text(connection / f"persistent_{part}") for part in ("address", "port"))
                if address and port:
                    found[f"[{address}]:{port}" if ":" in address else f"{address}:{port}"] = host
        return found

    def _scan(self, host: int, lun: str) -> None:
        """Have one LUN looked for: a scan of all would bring up those that are none of this node's business."""
        file = self._root / f"sys/class/scsi_host/host{host}/scan"
        try:
            file.write_text(f"0 0 {lun}", encoding="utf-8")
        except OSError as error:
            raise VolumeFailed(f"open {file}: {error.strerror}") from error

    # programs

    def _iscsiadm(self, mode: str, *words: str) -> Finished:
        return self._programs.run(["iscsiadm", "-m", mode, *words])

    def _must(self, problem: str, mode: str, *words: str) -> Finished:
        done = self._iscsiadm(mode, *words)
        if done.code:
            raise VolumeFailed(f"iscsi: {problem} {done.output} ({done.problem})")
        return done


def _with_comma(portal: str) -> str:
    """Return a portal as iscsiadm names its records."""
    address, _, port = portal.rpartition(":")
    return f"{address.strip('[]')},{port}"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _record(output: str) -> dict[str, str]:
    """Return the fields of a record as ``iscsiadm -o show`` prints it; what is empty is left out."""
    rows = (line.partition(" = ") for line in output.splitlines() if " = " in line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, _, value in rows if value.strip() not in {"", "<empty>"}}
