"""Write into the environment where the workspace's modules are (see `workspace_finder`): ``./dev setup`` calls this."""

from __future__ import annotations

import py_compile
import sysconfig
from pathlib import Path

from workspace import distributions

SOURCE = Path(__file__).with_name("workspace_finder.py")
NAME = "_hyperkube_workspace"
AFTER_ALL_OTHERS = "zz_hyperkube_workspace.pth"
"""Files of paths are read in the order of their names: this one when all folders of sources are on the import path."""


def places(sources: list[Path]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the folder of each module or regular package outside of such ones, and the portions of each namespace."""
    folders: dict[str, str] = {}
    namespaces: dict[str, list[str]] = {}
    for source in sources:
        pending = [("", source)]
        while pending:
            prefix, folder = pending.pop()
            for entry in sorted(folder.iterdir()):
                name = f"{prefix}{entry.stem}"
                if entry.suffix == ".py" or (entry / "__init__.py").exists():
                    folders[name] = str(folder)
                elif entry.is_dir() and entry.name.isidentifier() and entry.name != "__pycache__":
                    namespaces.setdefault(name, []).append(str(entry))
                    pending.append((f"{name}.", entry))
    return folders, namespaces


def write(site: Path) -> None:
    """Write the finder with its places, its bytecode (others than the owner start programs, too), and its path file."""
    sources = [member.source for member in distributions()]
    folders, namespaces = places(sources)
    taken = frozenset(map(str, sources))
    module = site / f"{NAME}.py"
    module.write_text(f"{SOURCE.read_text()}\n\nPLACES = ({folders!r}, {namespaces!r}, {taken!r})\n")
    py_compile.compile(str(module), doraise=True)
    (site / AFTER_ALL_OTHERS).write_text(f"import {NAME}; {NAME}.install(*{NAME}.PLACES)\n")


if __name__ == "__main__":
    write(Path(sysconfig.get_path("purelib")))
