"""What a pod was granted, laid over what it asks for, and remembered."""

import pytest
from hyperkube_host.kubelet.allocation.state import FILE_NAME, AllocationState
from hyperkube_host.kubelet.types.allocation import Allocation, is_resized, with_allocation
from hyperkube_host.kubelet.types.pod_update import SOURCE_ANNOTATION


def pod(cpu="100m", *, level=None, **meta):
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}
    return {"metadata": {"name": "p", "uid": "u", **meta}, "spec": spec | ({"resources": level} if level else {})}


@pytest.mark.parametrize(("cpu", "resized"), [("200m", True), ("0.1", False)], ids=["more", "the same in other words"])
def test_a_pod_is_resized_when_it_asks_for_another_amount(cpu, resized):
    granted = Allocation.of(pod("100m"))

    assert is_resized(pod(cpu), granted) is resized
    assert with_allocation(pod(cpu), granted) == (pod("100m") if resized else pod(cpu))


def test_the_pod_that_asks_stays_as_it_is():
    asking = pod("200m")

    with_allocation(asking, Allocation.of(pod("100m")))

    assert asking == pod("200m")


def test_a_pods_own_resources_are_granted_too():
    granted = Allocation.of(pod(level={"limits": {"cpu": "1"}}))

    assert with_allocation(pod(level={"limits": {"cpu": "2"}}), granted)["spec"]["resources"] == {
        "limits": {"cpu": "1"}
    }


def test_a_static_pod_is_not_resized():
    static = pod("200m", annotations={SOURCE_ANNOTATION: "file"})

    assert not is_resized(static, Allocation.of(pod("100m")))


def test_what_was_granted_outlives_the_kubelet(tmp_path):
    AllocationState(tmp_path).set("u", Allocation.of(pod(level={"limits": {"cpu": "1"}})))
    later = AllocationState(tmp_path)

    assert later.get("u") == Allocation.of(pod(level={"limits": {"cpu": "1"}}))
    later.remove("u")
    assert AllocationState(tmp_path).get("u") is None


def test_a_broken_file_is_as_none(tmp_path, caplog):
    (tmp_path / FILE_NAME).write_text("{")

    assert AllocationState(tmp_path).get("u") is None
    assert "cannot be read" in caplog.text
