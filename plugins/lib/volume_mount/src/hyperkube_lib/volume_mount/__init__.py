"""What volume plugins and the kubelet do to the node's file systems.

Every program is found through PATH and called with a list of arguments, never through a shell; tests replace `Programs`
by `FakePrograms`, which notes the command lines. Source: kubernetes ``staging/src/k8s.io/mount-utils``.
"""

from hyperkube_lib.volume_mount.filesystems import disk_format, format_and_mount, grow_file_system
from hyperkube_lib.volume_mount.loop_devices import attach_loop, detach_loop, loop_of
from hyperkube_lib.volume_mount.mount_table import Mount, mount_table, mounts_below
from hyperkube_lib.volume_mount.mounter import Mounter, selinux_options
from hyperkube_lib.volume_mount.multipath import multipath_of, paths_of
from hyperkube_lib.volume_mount.network_disks import NetworkDisks
from hyperkube_lib.volume_mount.pod_notes import Note, PodNotes
from hyperkube_lib.volume_mount.programs import FakePrograms, Finished, HostPrograms, Programs
from hyperkube_lib.volume_mount.records import read_record, record_of, write_record
from hyperkube_lib.volume_mount.secret_files import secret_file, secret_key

__all__ = [
    "FakePrograms",
    "Finished",
    "HostPrograms",
    "Mount",
    "Mounter",
    "NetworkDisks",
    "Note",
    "PodNotes",
    "Programs",
    "attach_loop",
    "detach_loop",
    "disk_format",
    "format_and_mount",
    "grow_file_system",
    "loop_of",
    "mount_table",
    "mounts_below",
    "multipath_of",
    "paths_of",
    "read_record",
    "record_of",
    "secret_file",
    "secret_key",
    "selinux_options",
    "write_record",
]
