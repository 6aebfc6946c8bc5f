"""Programs of this machine as parts of an image: a file and the shared libraries that it is linked with."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from hyperkube_lib.image_archive.layer import Layer

_LIBRARY = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)


def add_program(layer: Layer, program: str | Path, path: str | None = None) -> None:
    """Add a program and its libraries to a layer.

    Args:
        layer: what it is added to.
        program: a path, or a name that is looked up in PATH.
        path: where it goes, its own path unless given.

    Raises:
        FileNotFoundError: there is no such program on this machine.
    """
    found = shutil.which(program)
    if found is None:
        raise FileNotFoundError(f"no program {str(program)!r} on this machine")
    layer.file(path or found, Path(found), 0o755)
    for library in shared_libraries(Path(found)):
        layer.file(str(library), library, 0o755)


def shared_libraries(program: Path) -> Iterator[Path]:
    """Yield the shared libraries of a program or library, the dynamic loader among them; nothing for a static one."""
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        for path in _LIBRARY.findall(listed.stdout):
            yield Path(path)
