"""A decision is written as a Binding with the pod's uid."""

from types import SimpleNamespace

from hyperkube_scheduler.default_binder import DefaultBinder

from hyperkube.kinds.resources import PODS
from hyperkube.plugin import PluginContext


class Recorded:
    def __init__(self):
        self.calls = []

    def create(self, *args, **kwargs):
        self.calls.append((args, kwargs))
        return {}


def test_it_posts_a_binding_to_the_pod():
    client = Recorded()
    binder = DefaultBinder(PluginContext(name="DefaultBinder", client=client))
    pod = {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"}}

    handled = binder.bind(SimpleNamespace(pod=pod), "node-1")

    (args, kwargs) = client.calls[0]
    assert handled
    assert args[0] == PODS
    assert args[1]["target"] == {"kind": "Node", "name": "node-1"}
    assert args[1]["metadata"]["uid"] == "u1"
    assert kwargs == {"name": "web", "subresource": "binding"}
