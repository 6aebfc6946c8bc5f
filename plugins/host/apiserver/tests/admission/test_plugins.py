"""Which admission plugins the flags choose."""

import logging

import pytest
from hyperkube_host.apiserver.admission import plugins
from hyperkube_host.apiserver.admission.plugins import admission_names
from hyperkube_host.apiserver.options import Options

from hyperkube.machinery.errors import UsageError


def names(**flags):
    options = Options.of({name.replace("_", "-"): value for name, value in flags.items()})
    return admission_names(options.admission, logging.getLogger("test"))


@pytest.fixture(autouse=True)
def bundle(monkeypatch):
    """A bundle of two plugins, of which the first is on by default."""
    monkeypatch.setattr(plugins, "installed", lambda _: {"A": None, "B": None})
    monkeypatch.setattr(plugins, "enabled_by_default", lambda _: ("A",))
    monkeypatch.setattr(plugins, "arranged", lambda _, given: tuple(given))


def test_plugins_are_enabled_and_disabled_by_name():
    assert names() == ("A",)
    assert names(enable_admission_plugins=["B"], disable_admission_plugins=["A"]) == ("B",)


@pytest.mark.parametrize("flag", ["enable", "disable"])
def test_a_name_that_is_not_there_is_refused(flag):
    with pytest.raises(UsageError, match=rf"^{flag}-admission-plugins plugin 'Foo' is unknown \(installed: A, B\)$"):
        names(**{f"{flag}_admission_plugins": ["Foo"]})


def test_a_name_may_not_be_enabled_and_disabled():
    with pytest.raises(
        UsageError, match=r"^\[B\] in enable-admission-plugins and disable-admission-plugins overlapped$"
    ):
        names(enable_admission_plugins=["B"], disable_admission_plugins=["B", "A"])


def test_an_order_of_ones_own_excludes_additions():
    assert names(admission_control=["B", "A"]) == ("B", "A")
    with pytest.raises(UsageError, match="flags are mutually exclusive"):
        names(admission_control=["B"], enable_admission_plugins=["A"])


def test_without_a_bundle_what_is_disabled_may_be_missing(monkeypatch):
    monkeypatch.setattr(plugins, "enabled_by_default", lambda _: None)

    assert names(disable_admission_plugins=["ServiceAccount"]) == ()
