"""Modules beside tests are loaded once, under a name that tells whose they are."""

import sys

import pytest
from hyperkube_testing.beside import module_at, module_beside


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "nimbus/tests"
    made.mkdir(parents=True)
    yield made
    for name in [name for name in sys.modules if name.startswith("nimbus_")]:
        del sys.modules[name]


def test_it_is_loaded_once_and_can_be_imported(folder):
    (folder / "vendor.py").write_text("THINGS = []\n")

    found = module_beside(str(folder / "test_nimbus.py"), "vendor")
    found.THINGS.append("kept")

    import nimbus_vendor

    assert nimbus_vendor is found is module_at(folder / "vendor.py")
    assert module_at(folder / "vendor.py").THINGS == ["kept"]


def test_one_that_fails_is_not_taken_for_loaded(folder):
    (folder / "vendor.py").write_text("raise ValueError('broken')\n")
    for _ in range(2):
        with pytest.raises(ValueError, match="broken"):
            module_at(folder / "vendor.py")
    assert "nimbus_vendor" not in sys.modules


def test_one_that_is_not_there_is_said_so(folder):
    with pytest.raises(FileNotFoundError):
        module_at(folder / "none.py")
