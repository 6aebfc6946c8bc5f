"""Imports modules without what only a reader of the program needs: docstrings, and annotations of our functions.

A server at rest is mostly code: of its 65 MiB texts about the code were three. ``python -OO`` would leave docstrings
out, and every assertion with them, and it wants all bytecode written anew, or a start takes twice as long. So a loader
reads bytecode of our own, which lies beside Python's under another name (``x.cpython-311.opt-lean.pyc``), module by
module: where it is missing, older than its source, or of a folder that may not be written, the module is loaded as
ever, and named to `lean_compiler`, which runs in a child at idle priority. What a start loads is read from one file
instead where there is one (`lean_archive`).

What a class says of itself is still to be had (`documentation`): it is kept behind the code, and read when asked for.
See ``docs/decisions/0017-bytecode-without-docstrings.md``.
"""

from __future__ import annotations

import io
import logging
import marshal
import os
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from importlib.util import cache_from_source
from types import CodeType, ModuleType
from typing import TYPE_CHECKING

from hyperkube_lib.component_base.lean_archive import LeanArchive, header

if TYPE_CHECKING:
    import subprocess

OURS = "hyperkube"
"""Beginning of the names of our modules, whose functions' annotations are left out, too."""
_LIBRARIES = frozenset(
    {"h2", "hpack", "hyperframe", "marshmallow", "packaging", "pluggy", "prometheus_client", "stevedore"}
)
"""Libraries of which it is known that they read no docstrings. Others may."""
_PARTS = ("numpy._core.", "numpy.lib.", "numpy.linalg.")
"""Beginnings of names of modules in libraries of which others read docstrings: these need none."""
_WITH_DOCSTRINGS = frozenset({"numpy._core.numeric", "numpy.lib._shape_base_impl"})
"""Modules among these whose docstrings ``numpy.ma`` copies, with other words; it fails without them."""
OPTIMIZATION = "lean"
"""What the name of such a file says, where Python's own have ``1`` or ``2``."""
_HEADER_BYTES = 16
_log = logging.getLogger("hyperkube.bytecode")
_BROKEN = (EOFError, ValueError, TypeError)
"""What `marshal` raises for a file that is cut off or holds something else."""


def may_be_lean(name: str) -> bool:
    """Tell whether a module needs no docstrings: ours, the standard library's, and of a few libraries."""
    package = name.partition(".")[0]
    if package.partition("_")[0] == OURS or package in sys.stdlib_module_names or package in _LIBRARIES:
        return True
    return name.startswith(_PARTS) and name not in _WITH_DOCSTRINGS


def lean_file(path: str) -> str:
    """Return where the lean bytecode of a source is.

    Raises:
        NotImplementedError: this Python keeps no bytecode.
    """
    return cache_from_source(path, optimization=OPTIMIZATION)


def lean_content(path: str) -> bytes | None:
    """Return code and docstrings of the source at `path` as `marshal` writes them; None where nothing fits it."""
    try:
        with open(lean_file(path), "rb") as file:  # noqa: PTH123  a path costs more than the rest of this
            data = file.read()
        return data[_HEADER_BYTES:] if data.startswith(header(os.stat(path))) else None  # noqa: PTH116  the same
    except (OSError, NotImplementedError):
        return None


def lean_code(path: str) -> CodeType | None:
    """Return the lean code of the source at `path`; None where there is none of it, or none that fits."""
    content = lean_content(path)
    if content is None:
        return None
    try:
        code = marshal.loads(content)  # noqa: S302  ours, as all bytecode
    except _BROKEN:
        return None
    return code if isinstance(code, CodeType) and code.co_filename == path else None


class LeanLoader(SourceFileLoader):
    """Loads a module from its lean bytecode, or as ever."""

    def __init__(self, imports: LeanImports, fullname: str, path: str) -> None:
        """Load the module `fullname` from the source `path`; what has no lean bytecode is noted in `imports`."""
        super().__init__(fullname, path)
        self._imports = imports

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code of the module."""
        if not may_be_lean(fullname):
            return super().get_code(fullname)
        code = self._imports.archive.take(self.path) or lean_code(self.path)
        if code is None:
            self._imports.missed[self.path] = fullname
            return super().get_code(fullname)
        self._imports.archive.note(self.path)
        self._share_path(code.co_filename, sys.modules.get(fullname))
        return code

    def _share_path(self, path: str, module: ModuleType | None) -> None:
        """Have one text for the paths of a module and of its codes; its bytecode's is made when it is asked for."""
        self.path = path
        if module is not None and module.__spec__ is not None and module.__spec__.loader is self:
            module.__spec__.origin = module.__file__ = path
            module.__spec__.cached = None
            vars(module).pop("__cached__", None)


class LeanImports:
    """Has a process import lean bytecode, and what has none get it for the next start.

    Attributes:
        missed: path → name of the modules that were loaded as ever since the last child was started.
        archive: what is loaded from one file.
    """

    def __init__(self, path: str = "") -> None:
        """Change nothing yet; with the path of the source that starts the process, it has an archive beside it."""
        self.missed: dict[str, str] = {}
        self.archive = LeanArchive(path)
        self._child: subprocess.Popen[bytes] | None = None

    def install(self) -> None:
        """Import so from now on, in the whole process."""
        found = FileFinder.path_hook(
            (ExtensionFileLoader, EXTENSION_SUFFIXES),
            (partial(LeanLoader, self), SOURCE_SUFFIXES),  # type: ignore[arg-type]  # called with name and path
            (SourcelessFileLoader, BYTECODE_SUFFIXES),
        )
        self.archive.read()
        sys.path_hooks.insert(0, found)
        sys.path_importer_cache.clear()

    def write_missed(self) -> None:
        """Have a child write what was missed, or then the archive, where that may be; called when the start is over."""
        self.archive.end_start()
        if self._child is not None:
            if self._child.poll() is None:
                return
            self._child = None
        missed = {path: name for path, name in self.missed.items() if _may_be_written(path)}
        self.missed.clear()
        if sys.dont_write_bytecode:
            return
        if missed:
            rows = [f"{name}\t{path}\n" for path, name in missed.items()]
            self._child = _started(("-X", "no_debug_ranges", "-m", "hyperkube_lib.component_base.lean_compiler"), rows)
        elif self.archive.loaded and _may_be_written(self.archive.path):
            words, rows = self.archive.writing()
            self._child = _started(words, rows)


def _started(words: Sequence[str], rows: Iterable[str]) -> subprocess.Popen[bytes] | None:
    """Start Python with `words` and `rows` on its standard input; return None if it cannot be.

    They are in a file, as a pipe would have this process wait for one at idle priority, which may not even read it.
    """
    import subprocess  # not for those who only ask for docstrings
    import tempfile

    try:
        with tempfile.TemporaryFile("w+") as lines:
            lines.writelines(rows)
            lines.seek(0)
            return subprocess.Popen(
                (sys.executable, *words), stdin=lines, stderr=subprocess.DEVNULL, start_new_session=True
            )
    except OSError as error:  # no space, no memory, no more processes: the next start does without
        _log.debug("no child writes bytecode: %s", error)
        return None


def _may_be_written(path: str) -> bool:
    folder = os.path.dirname(path)  # noqa: PTH120  of a thousand
    cache = os.path.join(folder, "__pycache__")  # noqa: PTH118  the same
    return os.access(cache if os.path.isdir(cache) else folder, os.W_OK)  # noqa: PTH112  the same


def documentation(cls: type) -> str:
    """Return the docstring of a class, or of the next of its bases that has one, as `inspect.getdoc` does."""
    for base in cls.__mro__[:-1]:
        text = base.__doc__ or _documented(base)
        if text is not None:
            import inspect  # what a start has no use for

            return inspect.cleandoc(text)
    return ""


def _documented(cls: type) -> str | None:
    loader = getattr(sys.modules.get(cls.__module__), "__loader__", None)
    return _docstrings(loader.path).get(cls.__qualname__) if isinstance(loader, LeanLoader) else None


@lru_cache(maxsize=4)
def _docstrings(path: str) -> dict[str, str]:
    """Return the docstrings of a module's classes by qualified name; empty where its lean bytecode is gone."""
    content = io.BytesIO(lean_content(path) or b"")
    try:
        marshal.load(content)  # noqa: S302  ours, as all bytecode
        found = marshal.load(content)  # noqa: S302  the same
    except _BROKEN:
        return {}
    return found if isinstance(found, dict) else {}
