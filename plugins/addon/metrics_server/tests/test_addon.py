"""The addon, from its start to its end."""

import base64
import ssl
import threading
import urllib.request

import pytest
from hyperkube_addon.metrics_server import MetricsServer

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import API_SERVICES, CONFIG_MAPS, ENDPOINT_SLICES, PODS
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.addon import AddonContract


class TestContract(AddonContract):
    serves = True

    def build(self):
        return MetricsServer(PluginContext(name="metrics-server", client=FakeClient(), clock=SystemClock()))


def test_it_is_registered_while_it_serves(monkeypatch):
    monkeypatch.setattr("hyperkube_addon.metrics_server.addon.START_SECONDS", 0.0)
    clock, client = SystemClock(), FakeClient()
    name, namespace = "extension-apiserver-authentication", "kube-system"
    client.seed(CONFIG_MAPS, {"metadata": {"name": name, "namespace": namespace}, "data": {}})
    scraped = threading.Event()
    addon = MetricsServer(PluginContext(name="metrics-server", client=client, clock=clock))
    monkeypatch.setattr("hyperkube_addon.metrics_server.scraper.Scraper.scrape", lambda _self: (scraped.set(), [])[1])
    thread = threading.Thread(target=addon.addon_start, daemon=True)
    thread.start()

    assert scraped.wait(10)
    (registration,) = client.objects(API_SERVICES)
    (endpoints,) = client.objects(ENDPOINT_SLICES)
    port = endpoints["ports"][0]["port"]
    context = ssl.create_default_context(cadata=base64.b64decode(registration["spec"]["caBundle"]).decode())
    health = urllib.request.urlopen(f"https://localhost:{port}/livez", context=context, timeout=10).read()
    addon.close()
    thread.join(10)

    assert health == b"ok"
    assert registration["spec"]["service"] == {"name": "metrics-server", "namespace": "kube-system", "port": 443}
    assert client.objects(API_SERVICES) == []
    assert not thread.is_alive()


class Ticking(FakeClock):
    """A clock on which a wait is over at once."""

    def wait(self, event, timeout=None):
        self.advance(timeout)
        return False


@pytest.mark.parametrize(("pods", "seconds"), [pytest.param(0, 60.0, id="none"), pytest.param(1, 15.0, id="one")])
def test_nodes_without_pods_are_asked_once_a_minute(pods, seconds):
    clock, client = Ticking(), FakeClient()
    for number in range(pods):
        client.create(PODS, {"metadata": {"name": f"p{number}", "namespace": "default"}}, "default")
    addon = MetricsServer(PluginContext(name="metrics-server", client=client, clock=clock))
    since = clock.monotonic()

    addon._rest(client, clock)

    assert clock.monotonic() - since == seconds
