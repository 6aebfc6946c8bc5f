"""``mount`` and ``umount``. Source of arguments and texts: kubernetes mount-utils ``mount_linux.go``."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from hyperkube_lib.volume_mount.mount_table import Mount, mount_table, mounts_below
from hyperkube_lib.volume_mount.programs import HostPrograms, Programs

from hyperkube.hookspecs.volume import VolumeFailed

_MASKED = "<masked>"


def selinux_options(label: str) -> list[str]:
    """Return the options of ``mount`` that give all files a label; none for an empty one.

    It is quoted: a label may have a comma in it.
    """
    return [f'context="{label}"'] if label else []


class Mounter:
    """Mounts and unmounts; all methods may block as long as the programs do."""

    def __init__(self, programs: Programs | None = None, table: Callable[[], list[Mount]] = mount_table) -> None:
        """Use the machine's programs and mount table unless others are given."""
        self.programs: Programs = programs or HostPrograms()
        self._table = table

    def mount(
        self, source: str, target: str, fs_type: str = "", options: Sequence[str] = (), sensitive: Sequence[str] = ()
    ) -> None:
        """Mount; ``bind`` among the options makes a bind mount with the other options.

        Args:
            source: a device, an export, a folder.
            target: the mount point, which exists.
            fs_type: of ``-t``; empty to let ``mount`` find out.
            options: of ``-o``.
            sensitive: more options, which no message shows.

        Raises:
            VolumeFailed: with the program's own words.
        """
        if "bind" not in options:
            self._mount(source, target, fs_type, [*options, *sensitive], len(sensitive))
            return
        # A bind mount takes over the options of what it shows; they are changed by a second call.
        rest = [option for option in options if option not in {"bind", "remount"}]
        net = ["_netdev"] if "_netdev" in rest else []
        self._mount(source, target, fs_type, ["bind", *net], 0)
        if rest:
            self._mount(source, target, fs_type, ["bind", "remount", *rest, *sensitive], len(sensitive))

    def _mount(self, source: str, target: str, fs_type: str, options: Sequence[str], hidden: int) -> None:
        arguments = [*(("-t", fs_type) if fs_type else ()), *(("-o", ",".join(options)) if options else ())]
        arguments += [*((source,) if source else ()), target]
        done = self.programs.run(["mount", *arguments])
        if done.code:
            shown = [*options[: len(options) - hidden], *([_MASKED] if hidden else [])]
            text = " ".join(arguments).replace(",".join(options), ",".join(shown)) if hidden else " ".join(arguments)
            raise VolumeFailed(
                f"mount failed: {done.problem}\nMounting command: mount\nMounting arguments: {text}\n"
                f"Output: {done.output}\n"
            )

    def unmount(self, target: str) -> None:
        """Unmount once; no error if it is not mounted.

        Raises:
            VolumeFailed: it is busy, or the program says another thing.
        """
        done = self.programs.run(["umount", target])
        if done.code and "not mounted" not in done.output and "no mount point" not in done.output:
            raise VolumeFailed(
                f"unmount failed: {done.problem}\nUnmounting arguments: {target}\nOutput: {done.output}\n"
            )

    def is_mount_point(self, path: str) -> bool:
        """Tell whether something is mounted at a path, also a bind mount of the same file system."""
        real = os.path.realpath(path)
        return any(mount.path == real for mount in self._table())

    def mounts_below(self, folder: str) -> list[Mount]:
        """Return the mounts at and below a folder, the innermost first."""
        return mounts_below(os.path.realpath(folder), self._table())

    def references(self, path: str) -> list[str]:
        """Return where else the file system that is mounted at a path is mounted."""
        real, table = os.path.realpath(path), self._table()
        own = next((mount for mount in reversed(table) if mount.path == real), None)
        if own is None:
            return []
        same = (own.device, own.root)
        return [mount.path for mount in table if (mount.device, mount.root) == same and mount.path != real]

    def clean_up(self, path: str) -> None:
        """Unmount a path as often as it is mounted, then remove the empty folder or file; no error if it is gone.

        Raises:
            VolumeFailed: it is busy, or not empty after that: then it holds data, which is kept.
        """
        mounted = [mount for mount in self._table() if mount.path == os.path.realpath(path)]
        # A mount whose server or FUSE process is gone looks as if there were nothing (ENOTCONN, ESTALE).
        if not mounted and not os.path.lexists(path):
            return
        for _ in mounted:
            self.unmount(path)
        try:
            if Path(path).is_dir() and not Path(path).is_symlink():
                Path(path).rmdir()
            else:
                Path(path).unlink(missing_ok=True)
        except OSError as error:
            raise VolumeFailed(f"remove {path}: {(error.strerror or '').lower()}") from error
