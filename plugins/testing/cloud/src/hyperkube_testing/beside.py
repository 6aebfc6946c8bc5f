"""Modules that stand beside tests and belong to no distribution, such as the double of a vendor's cloud."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def module_at(path: str | Path) -> ModuleType:
    """Return the module of a file ``…/NAME/tests/STEM.py``; it is loaded once, as ``NAME_STEM``, and imported so.

    Raises:
        FileNotFoundError: there is no such file.
    """
    file = Path(path).resolve()
    name = f"{file.parents[1].name}_{file.stem}"
    held = sys.modules.get(name)
    if held is not None and held.__file__ == str(file):
        return held
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    try:
        spec.loader.exec_module(made)
    except BaseException:
        del sys.modules[name]
        raise
    return made


def module_beside(test: str | Path, stem: str) -> ModuleType:
    """Return the module of that name beside a test, whose ``__file__`` is given."""
    return module_at(Path(test).with_name(f"{stem}.py"))
