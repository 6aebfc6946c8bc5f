"""What the defaults of several groups share."""

from hyperkube_api.meta.defaults import set_defaults


def test_only_absent_members_are_set():
    spec = {"replicas": 0, "paused": False, "strategy": None}

    set_defaults(spec, replicas=1, paused=True, strategy={}, minReadySeconds=5)

    assert spec == {"replicas": 0, "paused": False, "strategy": {}, "minReadySeconds": 5}
