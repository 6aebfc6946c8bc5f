"""hyperkube csi-driver: which driver is served, and how it is configured."""

import pytest
from hyperkube_command import csi_driver
from hyperkube_lib.csi import CsiDriver

from hyperkube.machinery.errors import UsageError


class Shelf(CsiDriver):
    driver_name = "shelf.example.com"


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """One driver without flags is installed."""
    from importlib.metadata import EntryPoint

    entry = EntryPoint("shelf", f"{__name__}:Shelf", "hyperkube.csi")
    monkeypatch.setattr("hyperkube.plugin.loader.installed", lambda _family: {"shelf": entry})
    monkeypatch.setattr("hyperkube.plugin.loader.load_entry", lambda _family, _entry: Shelf)


def test_a_driver_is_built_by_the_name_of_its_entry_point():
    assert csi_driver.build_driver("shelf", []).driver_name == "shelf.example.com"


def test_a_driver_that_is_not_installed():
    with pytest.raises(UsageError, match="csi plugin 'rack' is not installed"):
        csi_driver.build_driver("rack", [])


def test_a_flag_that_the_driver_does_not_have():
    with pytest.raises(UsageError, match="unknown flag --size of driver 'shelf'"):
        csi_driver.build_driver("shelf", ["--size=5"])


def test_a_driver_that_is_not_configured(monkeypatch):
    monkeypatch.setattr(Shelf, "is_configured", lambda _self: False)

    with pytest.raises(UsageError, match="driver 'shelf' is not configured"):
        csi_driver.build_driver("shelf", [])
