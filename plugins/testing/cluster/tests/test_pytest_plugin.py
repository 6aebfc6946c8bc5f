"""The plugin of pytest costs a test run nothing until a fixture is used."""

import subprocess
import sys
from importlib.metadata import entry_points

from hyperkube_testing.cluster import pytest_plugin

FIXTURES = {"hyperkube_cluster", "hyperkube_cluster_factory", "hyperkube_fork", "hyperkube_seed"}


def test_it_imports_no_server():
    script = "import sys, hyperkube_testing.cluster.pytest_plugin; print(*sys.modules, sep='\\n')"

    modules = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()

    assert "hyperkube_testing.cluster.pytest_plugin" in modules
    assert [name for name in modules if name.startswith(("hyperkube_host", "hyperkube_lib", "hyperkube."))] == []


def test_its_distribution_is_its_own_for_pytest_rewrites_all_of_it():
    plugins = [plugin for plugin in entry_points(group="pytest11") if plugin.module.startswith("hyperkube")]

    assert "hyperkube-testing-cluster" in {plugin.dist.name for plugin in plugins}
    assert all(plugin.module.startswith("hyperkube_testing.") for plugin in plugins)
    assert all(plugin.dist.name.startswith("hyperkube-testing-") for plugin in plugins)


def test_it_offers_the_documented_fixtures(request):
    manager = request.session._fixturemanager

    assert {name for name in vars(pytest_plugin) if name.startswith("hyperkube_")} == FIXTURES
    assert all(manager.getfixturedefs(name, request.node) for name in FIXTURES)
