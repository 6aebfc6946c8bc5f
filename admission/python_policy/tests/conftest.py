"""A bench with PythonPolicy on it, whose processes end with the test."""

import orjson
import pytest
from hyperkube_admission.python_policy.plugin import PythonPolicy

from hyperkube.client.client import RawResponse
from hyperkube.testing.admission_rig import AdmissionRig

KINDS = {"configmaps": "ConfigMap", "pods": "Pod", "services": "Service"}


def discovery(names):
    resources = [
        {"resource": name, "responseKind": {"kind": kind}, "scope": "Namespaced", "verbs": ["get", "list", "watch"]}
        for name, kind in names.items()
    ]
    version = {"version": "v1", "resources": resources}
    items = [{"metadata": {"name": ""}, "versions": [version]}] if names else []
    return RawResponse(200, {}, orjson.dumps({"kind": "APIGroupDiscoveryList", "items": items}))


@pytest.fixture
def bench(monkeypatch):
    """Return a function that makes a bench with the given settings."""
    made = []

    def make(policies, **settings):
        rig = AdmissionRig(PythonPolicy, settings={"policies": policies, "workers": 1, "budget": 20_000, **settings})
        made.append(rig)
        rig.client.answer("GET", "/api", lambda _: discovery(KINDS))
        rig.client.answer("GET", "/apis", lambda _: discovery({}))
        return rig

    yield make
    for rig in made:
        rig.plugin.close()
