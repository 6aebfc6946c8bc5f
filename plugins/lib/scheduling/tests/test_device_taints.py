"""What DeviceTaintRules make of a slice's devices."""

from hyperkube_lib.scheduling.device_taints import with_rules

TAINT = {"key": "example.com/hot", "effect": "NoExecute"}


def test_devices_have_the_taints_of_the_rules_that_select_them():
    spec = {"driver": "d", "pool": {"name": "p"}, "devices": [{"name": "a", "taints": [{"key": "own"}]}, {"name": "b"}]}
    rule = {"spec": {"deviceSelector": {"device": "a"}, "taint": TAINT}}

    found = with_rules({"spec": spec}, [rule])["spec"]["devices"]

    assert found == [{"name": "a", "taints": [{"key": "own"}, TAINT]}, {"name": "b"}]
