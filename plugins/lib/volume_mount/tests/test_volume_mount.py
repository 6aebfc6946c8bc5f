"""Mount tables, command lines, and a real file system on a loop device."""

import ctypes
import os
import shutil
from pathlib import Path

import pytest
from hyperkube_lib.volume_mount import (
    FakePrograms,
    Finished,
    HostPrograms,
    Mount,
    Mounter,
    PodNotes,
    attach_loop,
    detach_loop,
    disk_format,
    format_and_mount,
    grow_file_system,
    loop_of,
    mount_table,
    mounts_below,
)

from hyperkube.hookspecs.volume import VolumeFailed

TABLE = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
40 22 0:35 / /var/lib/a\\040b rw,nosuid - tmpfs tmpfs rw,size=1024k
41 40 8:1 /data /var/lib/a\\040b/c ro - ext4 /dev/sda1 rw
broken line
"""


def test_the_mount_table_is_read(tmp_path):
    (tmp_path / "mountinfo").write_text(TABLE)

    root, folder, bound = mount_table(tmp_path / "mountinfo")

    assert root == Mount("/", "/", "8:1", "ext4", "/dev/sda1", ("rw", "relatime", "errors=remount-ro"))
    assert folder.path == "/var/lib/a b"
    assert (bound.root, bound.options) == ("/data", ("ro", "rw"))
    assert mounts_below("/var/lib/a b", [root, folder, bound]) == [bound, folder]
    assert mount_table(tmp_path / "none") == []


@pytest.mark.parametrize(
    ("fs_type", "options", "lines"),
    [
        ("nfs", ["ro", "vers=4"], ["mount -t nfs -o ro,vers=4 S T"]),
        ("", [], ["mount S T"]),
        ("", ["bind"], ["mount -o bind S T"]),
        ("", ["bind", "ro"], ["mount -o bind S T", "mount -o bind,remount,ro S T"]),
    ],
)
def test_command_lines_of_mount(fs_type, options, lines):
    programs = FakePrograms()

    Mounter(programs, list).mount("S", "T", fs_type, options)

    assert programs.ran == lines


def test_what_is_secret_is_in_no_message():
    mounter = Mounter(FakePrograms({"mount": Finished(32, "no route")}), list)

    with pytest.raises(VolumeFailed) as caught:
        mounter.mount("S", "T", "cifs", ["ro"], ["password=hush"])

    assert str(caught.value) == (
        "mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t cifs -o ro,<masked> S T\n"
        "Output: no route\n"
    )


def test_what_is_not_mounted_is_unmounted_already():
    Mounter(FakePrograms({"umount": Finished(32, "umount: T: not mounted.")}), list).unmount("T")

    with pytest.raises(VolumeFailed, match=r"unmount failed: exit status 32\nUnmounting arguments: T\nOutput: busy"):
        Mounter(FakePrograms({"umount": Finished(32, "busy")}), list).unmount("T")


def test_the_other_places_of_a_mount_are_found():
    table = [Mount("/g", "/", "7:1", "ext4", "/dev/loop1", ()), Mount("/p", "/", "7:1", "ext4", "/dev/loop1", ())]

    assert Mounter(FakePrograms(), lambda: table).references("/g") == ["/p"]
    assert Mounter(FakePrograms(), lambda: table).references("/x") == []


def test_cleaning_up_never_deletes_data(tmp_path):
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "file").touch()
    mounter = Mounter(FakePrograms(), list)

    with pytest.raises(VolumeFailed, match="not empty"):
        mounter.clean_up(str(tmp_path / "v"))
    (tmp_path / "v" / "file").unlink()
    mounter.clean_up(str(tmp_path / "v"))
    mounter.clean_up(str(tmp_path / "v"))

    assert not (tmp_path / "v").exists()


def _fuse_is_possible():
    return os.geteuid() == 0 and os.access("/dev/fuse", os.R_OK | os.W_OK)


@pytest.mark.root
@pytest.mark.skipif(not _fuse_is_possible(), reason="no FUSE here")
def test_a_mount_whose_process_is_gone_is_cleaned_up(tmp_path):
    libc, device, path = ctypes.CDLL(None, use_errno=True), os.open("/dev/fuse", os.O_RDWR), tmp_path / "v"
    path.mkdir()
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    if libc.mount(b"gone", bytes(path), b"fuse", 0, options) != 0:
        os.close(device)
        pytest.skip(f"no FUSE here: {os.strerror(ctypes.get_errno())}")
    os.close(device)  # what a file system's process does by ending
    mounter = Mounter()
    try:
        with pytest.raises(OSError, match="not connected"):
            path.stat()

        mounter.clean_up(str(path))

        assert not mounter.is_mount_point(str(path))
        assert not path.exists()
    finally:
        libc.umount2(bytes(path), 0)


BLKID = "blkid -p -s TYPE -s PTTYPE -o export /dev/x"


@pytest.mark.parametrize(
    ("answer", "fs_type", "lines"),
    [
        (Finished(2), "ext4", ["mkfs.ext4 -F -m0 /dev/x", "mount -t ext4 -o defaults /dev/x T"]),
        (Finished(2), "xfs", ["mkfs.xfs -f /dev/x", "mount -t xfs -o defaults /dev/x T"]),
        (Finished(0, "DEVNAME=/dev/x\nTYPE=ext4\n"), "", ["fsck -a /dev/x", "mount -t ext4 -o defaults /dev/x T"]),
    ],
)
def test_command_lines_of_formatting(answer, fs_type, lines):
    programs = FakePrograms({"blkid": answer})

    format_and_mount(Mounter(programs, list), "/dev/x", "T", fs_type)

    assert programs.ran == [BLKID, *lines]


@pytest.mark.parametrize(
    ("answers", "options", "text"),
    [
        ({"blkid": Finished(2)}, ["ro"], "cannot mount unformatted disk /dev/x as we are manipulating it in read-only"),
        ({"blkid": Finished(8, "ambivalent")}, [], "Could not determine if disk"),
        (
            {"blkid": Finished(0, "TYPE=xfs\n"), "mount": Finished(32, "bad")}, [],
            'failed to mount the volume as "ext4", it already contains xfs. Mount error: mount failed',
        ),
        (
            {"blkid": Finished(0, "TYPE=ext4\n"), "fsck": Finished(4, "bad")}, [],
            "'fsck' found errors on device /dev/x but could not correct them: bad",
        ),
    ],
)  # fmt: skip
def test_a_device_that_cannot_be_mounted_is_never_formatted(answers, options, text):
    programs = FakePrograms(answers)

    with pytest.raises(VolumeFailed, match=text):
        format_and_mount(Mounter(programs, list), "/dev/x", "T", "ext4", options)

    assert not any(line.startswith("mkfs") for line in programs.ran)


def test_a_partitioned_disk_is_not_empty():
    found = disk_format(FakePrograms({"blkid": Finished(0, "PTTYPE=gpt\n")}), "/dev/x")

    assert found == "unknown data, probably partitions"


@pytest.mark.parametrize(
    ("found", "line"),
    [("ext4", "resize2fs /dev/x"), ("xfs", "xfs_growfs -d T"), ("btrfs", "btrfs filesystem resize max T")],
)
def test_command_lines_of_growing(found, line):
    programs = FakePrograms({"blkid": Finished(0, f"TYPE={found}\n")})

    assert grow_file_system(programs, "/dev/x", "T")
    assert programs.ran[-1] == line


def test_an_unknown_format_does_not_grow():
    with pytest.raises(VolumeFailed, match=r"ResizeFS.Resize - resize of format ntfs is not supported for device"):
        grow_file_system(FakePrograms({"blkid": Finished(0, "TYPE=ntfs\n")}), "/dev/x", "T")


def test_a_program_that_is_missing_or_hangs_is_told():
    with pytest.raises(VolumeFailed, match='exec: "no-such-program": executable file not found in'):
        HostPrograms().run(["no-such-program"])
    with pytest.raises(VolumeFailed, match=r"sleep took longer than 0.1s"):
        HostPrograms(0.1).run(["sleep", "60"])


def test_a_loop_device_that_was_given_back_but_is_still_looked_at_counts_no_more(tmp_path):
    image = tmp_path / "image"
    image.touch()
    for name, autoclear in (("loop0", "1"), ("loop1", "0")):
        loop = tmp_path / "block" / name / "loop"
        loop.mkdir(parents=True)
        (loop / "backing_file").write_text(f"{image}\n")
        (loop / "autoclear").write_text(f"{autoclear}\n")

    assert loop_of(str(image), tmp_path / "block") == "/dev/loop1"
    (tmp_path / "block" / "loop1" / "loop" / "autoclear").write_text("1\n")
    assert loop_of(str(image), tmp_path / "block") == ""


def _loop_is_possible():
    return os.geteuid() == 0 and Path("/dev/loop-control").exists() and shutil.which("mkfs.ext4") is not None


@pytest.mark.root
@pytest.mark.skipif(not _loop_is_possible(), reason="no loop devices here")
def test_a_real_device_is_formatted_once_and_grows(tmp_path):
    image, target, mounter = tmp_path / "image", tmp_path / "mnt", Mounter()
    target.mkdir()
    with image.open("wb") as file:
        file.truncate(8 << 20)
    try:
        device = attach_loop(mounter.programs, str(image))
    except VolumeFailed as error:
        pytest.skip(str(error))
    try:
        format_and_mount(mounter, device, str(target), "ext4")
        (target / "kept").write_text("data")
        before = os.statvfs(target).f_blocks
        mounter.unmount(str(target))
        format_and_mount(mounter, device, str(target), "ext4")
        with image.open("r+b") as file:
            file.truncate(16 << 20)
        mounter.programs.run(["losetup", "-c", device])
        assert loop_of(str(image)) == attach_loop(mounter.programs, str(image)) == device
        assert (target / "kept").read_text() == "data"
        assert mounter.is_mount_point(str(target))
        try:
            grow_file_system(mounter.programs, device, str(target))
        except VolumeFailed as error:
            if "Permission denied" in str(error):
                pytest.skip("a mounted file system may not grow here: CAP_SYS_RESOURCE is missing")
            raise
        assert os.statvfs(target).f_blocks > before
    finally:
        mounter.clean_up(str(target))
        detach_loop(mounter.programs, device)


def test_what_pods_have_is_noted(tmp_path):
    notes = PodNotes(str(tmp_path / "plugin"))
    notes.save("a", "v", {"volume": "x"})
    notes.save("b", "v", {"volume": "y"})

    assert PodNotes(str(tmp_path / "plugin")).load("a", "v") == {"volume": "x"}
    assert notes.others("a", "v") == [{"volume": "y"}]

    notes.forget("a", "v")
    notes.forget("a", "v")
    assert notes.load("a", "v") is None


@pytest.mark.parametrize("text", ["{", "[]", '{"volume": 1}'])
def test_a_note_that_is_broken_is_told(tmp_path, text):
    notes = PodNotes(str(tmp_path))
    notes.save("a", "v", {})
    (tmp_path / "pods" / "a~v.json").write_text(text)

    with pytest.raises(VolumeFailed, match=r"decode .*a~v.json"):
        notes.load("a", "v")
