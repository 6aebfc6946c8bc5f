"""Distributions of a third party, as pip would have installed them, without pip."""

import sys
from textwrap import dedent

import pytest


class Site:
    """A folder on the import path."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder
        self._monkeypatch = monkeypatch

    def install(self, distribution, entries, **files):
        """Install a distribution: `entries` are lines ``family.Name = module:Class``, `files` texts by path."""
        folder = self.folder / distribution
        info = folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        lines = []
        for entry in entries:
            family, _, rest = entry.partition(".")
            lines += [f"[hyperkube.{family}]", rest]
        (info / "entry_points.txt").write_text("\n".join(lines))
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text))
        self._monkeypatch.syspath_prepend(folder)


@pytest.fixture
def site(tmp_path, monkeypatch):
    before = set(sys.modules)
    yield Site(tmp_path / "site", monkeypatch)
    for name in set(sys.modules) - before:
        if name.startswith("acme"):
            del sys.modules[name]
