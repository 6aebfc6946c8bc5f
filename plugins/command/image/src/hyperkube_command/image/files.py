"""What of this Python goes into an image: the interpreter, its library, installed distributions, and all bytecode."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import py_compile
import re
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from hyperkube_lib.image_archive import Layer, add_program, shared_libraries

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_SEPARATORS = re.compile(r"[-_.]+")
_UNCHECKED = (1).to_bytes(4, "little")
"""The flags of bytecode that is never compared with its source (PEP 552): files of an image have no times."""
_NOT_NEEDED = frozenset(
    ["__pycache__", "dist-packages", "ensurepip", "idlelib", "lib2to3", "site-packages", "test", "tests", "tkinter"]
)


def closure(*names: str) -> list[importlib.metadata.Distribution]:
    """Return installed distributions and all that they need, by name.

    Raises:
        importlib.metadata.PackageNotFoundError: one of the distributions themselves is not installed.
    """
    found = {_normal(name): importlib.metadata.distribution(name) for name in names}
    ahead = list(found.values())
    while ahead:
        for requirement in ahead.pop().requires or ():
            match = _NAME.match(requirement)
            if match is None or "extra ==" in requirement or _normal(match[0]) in found:
                continue
            try:
                needed = importlib.metadata.distribution(match[0])
            except importlib.metadata.PackageNotFoundError:
                continue  # of another platform or another version of Python
            found[_normal(match[0])] = needed
            ahead.append(needed)
    return [found[key] for key in sorted(found)]


def add_interpreter(layer: Layer) -> None:
    """Add the Python that runs this, where it stands on this machine, with its library and shared libraries."""
    program = Path(sys.executable).resolve()
    add_program(layer, program)
    for name in ("stdlib", "platstdlib"):
        folder = Path(sysconfig.get_path(name)).resolve()
        if str(folder) not in layer:
            _add_tree(layer, str(folder), folder)


def add_distribution(layer: Layer, distribution: importlib.metadata.Distribution, site: str) -> None:
    """Add the files of a distribution below `site`; of one that is installed as editable, its sources."""
    sources = [] if (project := _editable_project(distribution)) is None else [project / "src"]
    for entry in distribution.files or ():
        source = Path(str(entry.locate()))
        if entry.parts[0] == ".." or not _NOT_NEEDED.isdisjoint(entry.parts) or not source.is_file():
            continue  # scripts, which name the interpreter of this machine, and bytecode, which is made anew
        if source.suffix == ".pth":
            sources = [Path(line) for line in source.read_text().splitlines()]
        else:
            _add_file(layer, f"{site}/{entry}", source)
    for folder in sources:
        if folder.is_dir():
            _add_tree(layer, site, folder)


def _editable_project(distribution: importlib.metadata.Distribution) -> Path | None:
    """Return the project's folder of a distribution that is installed as editable; its path file may be gone for links.

    Source: PyPA's specification "Recording the Direct URL Origin of installed distributions".
    """
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if not origin.get("dir_info", {}).get("editable"):
        return None
    return Path(url2pathname(urlsplit(origin["url"]).path))


def _add_tree(layer: Layer, path: str, folder: Path) -> None:
    """Add a folder of Python files, without what programs never import."""
    for source in _files(folder):
        _add_file(layer, f"{path}/{source.relative_to(folder)}", source)


def _files(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name in _NOT_NEEDED or entry.name.startswith("config-"):
            continue
        if entry.is_dir():
            yield from _files(entry)
        elif entry.is_file():
            yield entry


def _add_file(layer: Layer, path: str, source: Path) -> None:
    if source.suffix == ".a":
        return
    layer.file(path, source)
    if source.suffix == ".py":
        data = bytecode(source)
        if data:
            layer.data(importlib.util.cache_from_source(path), data)
    elif ".so" in source.name:
        for library in shared_libraries(source):
            if "site-packages" not in library.parts and "dist-packages" not in library.parts:
                layer.file(str(library), library, 0o755)


def bytecode(source: Path) -> bytes:
    """Return a source's bytecode, to be used whatever the source's time is; empty if it does not compile."""
    text = source.read_bytes()
    cached = Path(importlib.util.cache_from_source(str(source)))
    found = source.stat()
    times = int(found.st_mtime).to_bytes(8, "little")[:4] + (found.st_size & 0xFFFFFFFF).to_bytes(4, "little")
    expected = importlib.util.MAGIC_NUMBER + bytes(4) + times
    data = cached.read_bytes() if cached.exists() else b""
    if not data.startswith(expected):
        with tempfile.NamedTemporaryFile(suffix=".pyc") as made:
            try:
                py_compile.compile(str(source), made.name, doraise=True)
            except py_compile.PyCompileError:
                return b""  # a template of another Python, which nothing imports
            data = Path(made.name).read_bytes()
    return importlib.util.MAGIC_NUMBER + _UNCHECKED + importlib.util.source_hash(text) + data[len(expected) :]


def _normal(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()
