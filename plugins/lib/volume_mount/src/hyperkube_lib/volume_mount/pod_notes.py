"""What pods have of a kind's volumes, noted on the disk: a later kubelet knows what to undo. No secret stands there.

Source of the idea: kubernetes ``pkg/volume/scaleio/sio_util.go`` (saveConfig), ``pkg/volume/iscsi`` (iscsi.json).
"""

from __future__ import annotations

from pathlib import Path

from hyperkube_lib.volume_mount.records import read_record, write_record

Note = dict[str, str]


class PodNotes:
    """One note for each volume of each pod, below the folder of a kind."""

    def __init__(self, plugin_dir: str) -> None:
        self._folder = Path(plugin_dir, "pods")

    def save(self, uid: str, name: str, note: Note) -> None:
        """Keep the note of a pod's volume.

        Raises:
            VolumeFailed: it cannot be written.
        """
        write_record(self._file(uid, name), note, "create {file} err {error}")

    def load(self, uid: str, name: str) -> Note | None:
        """Return the note of a pod's volume, None if there is none.

        Raises:
            VolumeFailed: it cannot be read.
        """
        return _load(self._file(uid, name))

    def others(self, uid: str, name: str) -> list[Note]:
        """Return the notes of all other volumes of pods.

        Raises:
            VolumeFailed: one cannot be read.
        """
        own = self._file(uid, name)
        notes = [_load(file) for file in sorted(self._folder.glob("*.json")) if file != own]
        return [note for note in notes if note is not None]

    def forget(self, uid: str, name: str) -> None:
        """Drop the note of a pod's volume; no error if there is none."""
        self._file(uid, name).unlink(missing_ok=True)

    def _file(self, uid: str, name: str) -> Path:
        return self._folder / f"{uid}~{name}.json"


def _load(file: Path) -> Note | None:
    return read_record(file, _note)


def _note(known: object) -> Note:
    if not isinstance(known, dict) or not all(isinstance(value, str) for value in known.values()):
        raise ValueError("it is no note of a volume")
    return known
