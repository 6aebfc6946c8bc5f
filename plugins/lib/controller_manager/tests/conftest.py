"""Controllers that are installed as far as their entry points and data go."""

from importlib.metadata import EntryPoint

import pytest


@pytest.fixture
def entries(tmp_path, monkeypatch):
    """Return a function that makes entry points of named controllers, each with the text of its ``controller.toml``."""
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / f"controllers_of_{tmp_path.name.replace('-', '_')}"
    folder.mkdir()

    def make(*names, **data):
        found = {}
        for name in (*names, *data):
            module = name.replace("-", "_")
            (folder / f"{module}.py").touch()
            if name in data:
                (folder / f"{module}.controller.toml").write_text(data[name])
            found[name] = EntryPoint(name, f"{folder.name}.{module}:Controller", "hyperkube.controller")
        return found

    return make
