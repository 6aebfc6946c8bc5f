"""Defaults of pods."""

from copy import deepcopy

from hyperkube_api.core.pods.defaults import default_pod


def a_pod(**spec):
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "ns", "creationTimestamp": "2026-01-01T11:58:00Z"},
        "spec": {"containers": [{"name": "c", "image": "nginx:1.25", "resources": {}}], **spec},
        "status": {},
    }
    default_pod(made)
    return made


def test_defaults_are_idempotent():
    once = a_pod(hostNetwork=True, volumes=[{"name": "v"}], serviceAccount="x")
    twice = deepcopy(once)

    default_pod(twice)

    assert twice == once
    assert once["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]
    assert once["spec"]["serviceAccountName"] == "x"


def test_what_is_limited_is_requested():
    pod = a_pod(containers=[{"name": "c", "image": "i", "resources": {"limits": {"cpu": "1"}}}])

    assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1"}
