"""Rotating the logs of containers by size. Source: kubernetes ``pkg/kubelet/logs/container_log_manager.go``."""

from __future__ import annotations

from pathlib import Path


def rotate(path: Path, max_bytes: int, max_files: int, stamp: str) -> bool:
    """Move a log aside that is over its size and drop the oldest; tell whether its writer must reopen it."""
    try:
        if path.stat().st_size < max_bytes:
            return False
    except FileNotFoundError:
        return False
    path.rename(path.with_name(f"{path.name}.{stamp}"))
    older = sorted(path.parent.glob(f"{path.name}.*"))
    for extra in older[: max(0, len(older) - (max_files - 1))]:
        extra.unlink(missing_ok=True)
    return True
