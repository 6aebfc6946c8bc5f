"""What tests of several modules need."""

import os
import sys
from pathlib import Path

import pytest


@pytest.fixture
def own_installation(tmp_path_factory, monkeypatch):
    """Let children be of an installation of their own: in this one, a server that starts may be writing just then."""
    home, python = tmp_path_factory.mktemp("installation"), Path(sys.executable).resolve()
    (home / "bin").mkdir()
    (home / "bin" / "python").symlink_to(python)
    (home / "pyvenv.cfg").write_text(f"home = {python.parent}\n")
    monkeypatch.setattr(sys, "executable", str(home / "bin" / "python"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
