"""The addon, from its start to its end."""

import urllib.request

from hyperkube_addon.console import URL_FILE, ConsoleAddon

from hyperkube.client import kubeconfig
from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.addon import AddonContract


class TestContract(AddonContract):
    serves = True

    def build(self):
        return ConsoleAddon(PluginContext(name="console", clock=SystemClock()))


def test_it_serves_at_the_link_that_it_tells(tmp_path):
    access = kubeconfig.put(kubeconfig.empty(), "clusters", "c", {"server": "http://127.0.0.1:1"})
    kubeconfig.write(tmp_path / "kubeconfig", access)
    settings = {"kubeconfig": str(tmp_path / "kubeconfig"), "data_dir": str(tmp_path), "console_port": 0}
    addon = ConsoleAddon(PluginContext(name="console", clock=SystemClock(), settings=settings))

    addon.start()
    try:
        url = addon.addon_notice().removeprefix("console: ")
        kept = tmp_path / URL_FILE
        assert kept.read_text().strip() == url
        assert oct(kept.stat().st_mode)[-3:] == "600"
        with urllib.request.urlopen(f"{url.partition('/sign-in')[0]}/static/icon.svg", timeout=10) as answer:
            assert answer.status == 200
    finally:
        addon.close()

    assert not kept.exists()


def test_without_a_cluster_it_says_nothing():
    addon = ConsoleAddon(PluginContext(name="console", clock=SystemClock()))

    addon.start()
    try:
        assert addon.addon_notice() == ""
    finally:
        addon.close()
