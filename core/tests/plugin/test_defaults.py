"""Which plugin is used where a host loads one and its flag names none."""

import pytest

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import defaults


@pytest.fixture
def bundle(monkeypatch):
    """Set what is installed, and what the bundle enables."""

    def put(installed, enabled):
        table = {} if enabled is None else {"runtime": {"enabled": enabled}}
        monkeypatch.setattr(defaults, "_bundle", lambda: table)
        monkeypatch.setattr(defaults, "installed", lambda _family: dict.fromkeys(installed))

    return put


@pytest.mark.parametrize(
    ("installed", "enabled", "chosen"),
    [
        (["cri", "process"], ["process"], "process"),
        (["cri", "process"], ["docker", "process", "cri"], "process"),
        (["cri"], None, "cri"),
    ],
    ids=["the bundle's", "the first that is installed", "the only one"],
)
def test_a_default_is_the_bundles_or_the_only_one(bundle, installed, enabled, chosen):
    bundle(installed, enabled)

    assert defaults.default_plugin("runtime", "container-runtime") == chosen


@pytest.mark.parametrize(
    ("installed", "enabled", "listed"),
    [
        (["cri", "process"], None, "cri, process"),
        ([], None, "none; they come with distributions 'hyperkube-runtime-NAME', all of them with 'hyperkube'"),
        (["cri"], ["process"], "cri"),
    ],
    ids=["several and no bundle", "none", "not the bundle's"],
)
def test_without_a_default_the_installed_ones_are_listed(bundle, installed, enabled, listed):
    bundle(installed, enabled)

    with pytest.raises(UsageError, match=rf"^--container-runtime must name a runtime plugin \(installed: {listed}\)$"):
        defaults.default_plugin("runtime", "container-runtime")
