"""Names of cgroups in upstream's tables (``pkg/kubelet/cm/cgroup_manager_linux_test.go``)."""

import pytest
from hyperkube_host.kubelet.cm.cgroup_name import (
    expand_slice,
    new_cgroup_name,
    parse_cgroupfs,
    parse_systemd,
    to_cgroupfs,
    to_systemd,
)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ((), "/"),
        (("Burstable",), "/Burstable.slice"),
        (("Burstable", "pod_123"), "/Burstable.slice/Burstable-pod_123.slice"),
        (("Burstable", "pod-123"), "/Burstable.slice/Burstable-pod_123.slice"),
        (("test", "a", "b"), "/test.slice/test-a.slice/test-a-b.slice"),
    ],
)
def test_systemd_has_a_slice_for_each_part(name, path):
    assert to_systemd(name) == path


@pytest.mark.parametrize(("name", "path"), [((), "/"), (("kubepods", "burstable", "pod1"), "/kubepods/burstable/pod1")])
def test_cgroupfs_has_a_folder_for_each_part(name, path):
    assert to_cgroupfs(name) == path
    assert parse_cgroupfs(path) == name


def test_the_last_slice_of_a_path_names_all_parts():
    assert parse_systemd("/kubepods.slice/kubepods-pod1_2.slice") == ("kubepods", "pod1-2")


@pytest.mark.parametrize("part", ["a/b", "a_b"])
def test_parts_that_would_be_ambiguous_are_refused(part):
    with pytest.raises(ValueError, match="invalid character in component"):
        new_cgroup_name((), part)


@pytest.mark.parametrize("name", ["a", "a--b.slice", ".slice", "a/b.slice", "-a.slice"])
def test_what_is_no_slice_is_refused(name):
    with pytest.raises(ValueError, match="invalid slice name"):
        expand_slice(name)


def test_the_root_slice_is_the_root():
    assert expand_slice("-.slice") == "/"
