"""A decision is written as a Binding with the pod's uid, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/defaultbinder/default_binder_test.go``.
"""

from types import SimpleNamespace

import pytest
from hyperkube_scheduler.default_binder import DefaultBinder

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Conflict
from hyperkube.plugin import PluginContext

POD = SimpleNamespace(pod={"metadata": {"name": "foo", "namespace": "ns", "uid": "u1"}})
NODE = "foohost.kubernetes.mydomain.com"


class Recorded:
    """A client that notes what is created, or refuses it."""

    def __init__(self, refuses=None):
        self.calls = []
        self.refuses = refuses

    def create(self, *args, **kwargs):
        if self.refuses is not None:
            raise self.refuses
        self.calls.append((args, kwargs))
        return {}


def test_it_posts_a_binding_to_the_pod():
    client = Recorded()

    handled = DefaultBinder(PluginContext(name="DefaultBinder", client=client)).bind(POD, NODE)

    ((resource, binding, namespace), named) = client.calls[0]
    assert handled
    assert resource == PODS
    assert binding == {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"namespace": "ns", "name": "foo", "uid": "u1"},
        "target": {"kind": "Node", "name": NODE},
    }
    assert namespace == "ns"
    assert named == {"name": "foo", "subresource": "binding"}


def test_what_the_api_refuses_fails_the_attempt():
    refusal = Conflict("pod foo is already assigned to node")
    binder = DefaultBinder(PluginContext(name="DefaultBinder", client=Recorded(refusal)))

    with pytest.raises(Conflict) as raised:
        binder.bind(POD, NODE)

    assert raised.value is refusal
