"""Loop devices: a file as a block device. Source: kubernetes ``pkg/volume/util/volumepathhandler``."""

from __future__ import annotations

from pathlib import Path

from hyperkube_lib.volume_mount.programs import Programs

from hyperkube.hookspecs.volume import VolumeFailed

SYS_BLOCK = Path("/sys/block")


def loop_of(path: str, sys_block: Path = SYS_BLOCK) -> str:
    """Return the loop device of a file or device, empty if it has none.

    One that was given back while another program looked at it has the file until that has closed it, and is not to be
    used any more. Source: Linux ``drivers/block/loop.c`` (loop_clr_fd), which sets LO_FLAGS_AUTOCLEAR then.
    """
    real = str(Path(path).resolve())
    for backing in sorted(sys_block.glob("loop*/loop/backing_file")):
        try:
            found = backing.read_text(encoding="utf-8").strip()
        except OSError:
            continue  # given back meanwhile
        if found == real and not _is_given_back(backing.parent):
            return f"/dev/{backing.parent.parent.name}"
    return ""


def _is_given_back(loop: Path) -> bool:
    try:
        return (loop / "autoclear").read_text(encoding="utf-8").strip() == "1"
    except OSError:
        return True  # it has gone meanwhile


def attach_loop(programs: Programs, path: str) -> str:
    """Return the loop device of a file, made if there is none yet.

    Raises:
        VolumeFailed: the machine has none to give.
    """
    if found := loop_of(path):
        return found
    done = programs.run(["losetup", "-f", "--show", path])
    if done.code:
        raise VolumeFailed(f"losetup -f --show {path} failed: {done.problem}: {done.output}")
    return done.output.strip()


def detach_loop(programs: Programs, device: str) -> None:
    """Give a loop device back; no error if it is gone.

    Raises:
        VolumeFailed: it cannot be given back.
    """
    done = programs.run(["losetup", "-d", device])
    if done.code and "No such device" not in done.output and "No such file" not in done.output:
        raise VolumeFailed(f"losetup -d {device} failed: {done.problem}: {done.output}")
