"""What pods have of a kind's volumes, noted on the disk: a later kubelet knows what to undo. No secret stands there.

Source of the idea: kubernetes ``pkg/volume/scaleio/sio_util.go`` (saveConfig), ``pkg/volume/iscsi`` (iscsi.json).
"""

from __future__ import annotations

import json
from pathlib import Path

from hyperkube.hookspecs.volume import VolumeFailed

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
        file = self._file(uid, name)
        try:
            file.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
            file.write_text(json.dumps(note), encoding="utf-8")
        except OSError as error:
            raise VolumeFailed(f"create {file} err {error.strerror}") from error

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
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise VolumeFailed(f"decode {file}: {error}") from error
    if not isinstance(known, dict) or not all(isinstance(value, str) for value in known.values()):
        raise VolumeFailed(f"decode {file}: it is no note of a volume")
    return known
