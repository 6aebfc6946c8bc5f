"""What is kept on the disk of a volume, so that it can be undone by a kubelet that has forgotten it.

Source: kubernetes ``pkg/volume/csi/csi_util.go`` (saveVolumeData, loadVolumeData).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from hyperkube.hookspecs.volume import VolumeFailed

FILE = "vol_data.json"


def label_record(label: str) -> dict[str, str]:
    """Return what is kept of the SELinux label that a volume was mounted with; nothing for none."""
    return {"seLinuxMountContext": label} if label else {}


def save_volume_data(folder: Path, data: Mapping[str, str]) -> None:
    """Write the file of a volume, whole or not at all; the folder is made."""
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f".{FILE}.new"
    with fresh.open("w", encoding="utf-8") as out:
        json.dump(dict(data), out)
        out.flush()
        os.fsync(out.fileno())
    fresh.replace(folder / FILE)


def load_volume_data(folder: Path) -> dict[str, str]:
    """Return what was kept.

    Raises:
        VolumeFailed: there is nothing, or it cannot be read.
    """
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise VolumeFailed(f"failed to load volume data file [{folder}]: {error}") from error
    return {str(key): str(value) for key, value in found.items()}


def remove_volume_data(folder: Path) -> None:
    """Remove the file and its folder, which must be empty but for it; no error if they are gone.

    Raises:
        VolumeFailed: something is left in it, which is kept.
    """
    (folder / FILE).unlink(missing_ok=True)
    try:
        folder.rmdir()
    except FileNotFoundError:
        return
    except OSError as error:
        raise VolumeFailed(f"remove {folder}: {(error.strerror or '').lower()}") from error
