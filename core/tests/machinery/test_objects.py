from hyperkube.machinery.objects import has_finalizer, with_finalizer, without_finalizer

HELD = {"metadata": {"name": "a", "finalizers": ["x", "y"]}, "spec": {}}


def test_finalizers_come_last_and_once():
    assert with_finalizer({"metadata": {"name": "a"}}, "x")["metadata"] == {"name": "a", "finalizers": ["x"]}
    assert with_finalizer(HELD, "z")["metadata"]["finalizers"] == ["x", "y", "z"]
    assert with_finalizer(HELD, "x") is HELD


def test_a_finalizer_goes_and_the_others_stay():
    freed = without_finalizer(HELD, "x")

    assert freed["metadata"] == {"name": "a", "finalizers": ["y"]}
    assert without_finalizer({}, "x") == {"metadata": {"finalizers": []}}
    assert HELD["metadata"]["finalizers"] == ["x", "y"]


def test_whether_an_object_has_a_finalizer():
    assert has_finalizer(HELD, "x")
    assert not has_finalizer(HELD, "z")
    assert not has_finalizer({}, "x")
