"""Shares, quotas, weights and pages of upstream's tables (``pkg/kubelet/cm/helpers_linux_test.go``, runc 1.3)."""

import pytest
from hyperkube_host.kubelet.qos.resource_config import (
    MIN_SHARES,
    container_huge_page_limits,
    huge_page_limits,
    huge_page_sizes,
    memory_high,
    milli_cpu_to_quota,
    milli_cpu_to_shares,
    page_size_name,
    resource_config_for_pod,
    shares_to_weight,
    weight_to_shares,
)

from hyperkube.kinds.resource_lists import read

PAGE, MI, GI = 4096, 1 << 20, 1 << 30


def pod(*resources, level=None):
    containers = [{"name": f"c{number}", "resources": each} for number, each in enumerate(resources)]
    return {"spec": {"containers": containers, **({"resources": level} if level else {})}}


@pytest.mark.parametrize(
    ("milli", "shares"), [(0, 2), (1, 2), (2, 2), (100, 102), (1000, 1024), (2500, 2560), (10**9, 262144)]
)
def test_shares_are_a_1024th_of_a_cpu_and_bounded(milli, shares):
    assert milli_cpu_to_shares(milli) == shares


@pytest.mark.parametrize(
    ("milli", "period", "quota"),
    [
        (0, 100000, 0),
        (5, 100000, 1000),
        (9, 100000, 1000),
        (10, 100000, 1000),
        (200, 100000, 20000),
        (1000, 5000, 5000),
    ],
)
def test_a_quota_is_a_share_of_the_period_and_no_less_than_a_millisecond(milli, period, quota):
    assert milli_cpu_to_quota(milli, period) == quota


@pytest.mark.parametrize(
    ("shares", "weight"), [(0, 0), (1, 1), (2, 1), (102, 17), (512, 59), (1024, 100), (262144, 10000), (300000, 10000)]
)
def test_a_weight_follows_the_curve_of_runc(shares, weight):
    assert shares_to_weight(shares) == weight


def test_weights_turn_back_into_shares_by_the_straight_line():
    assert [weight_to_shares(weight) for weight in (1, 100, 10000)] == [2, 2597, 262144]


@pytest.mark.parametrize(
    ("one", "shares", "quota", "memory"),
    [
        pytest.param({}, 2, None, None, id="besteffort"),
        pytest.param({"requests": {"cpu": "100m", "memory": "100Mi"}}, 102, None, None, id="burstable"),
        pytest.param(
            {"requests": {"cpu": "100m", "memory": "100Mi"}, "limits": {"cpu": "200m", "memory": "200Mi"}},
            102,
            20000,
            200 * MI,
            id="burstable-limited",
        ),
        pytest.param(
            {"requests": {"cpu": "100m", "memory": "100Mi"}, "limits": {"cpu": "100m", "memory": "100Mi"}},
            102,
            10000,
            100 * MI,
            id="guaranteed",
        ),
    ],
)
def test_a_pods_cgroup_has_what_its_quality_of_service_says(one, shares, quota, memory):
    config = resource_config_for_pod(pod(one))

    assert (config.cpu_shares, config.cpu_quota, config.memory) == (shares, quota, memory)


def test_one_container_without_limits_makes_the_pod_unlimited():
    limited = {"requests": {"cpu": "100m", "memory": "1Mi"}, "limits": {"cpu": "200m", "memory": "2Mi"}}

    config = resource_config_for_pod(pod(limited, {"requests": {"cpu": "50m"}}))

    assert (config.cpu_shares, config.cpu_quota, config.memory) == (153, None, None)


def test_limits_of_the_pod_as_a_whole_hold_for_all_containers():
    level = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "1", "memory": "256Mi"}}

    config = resource_config_for_pod(pod({}, {}, level=level))

    assert (config.cpu_shares, config.cpu_quota, config.memory) == (102, 100_000, 256 * MI)


def test_without_enforcement_there_is_no_quota():
    same = {"cpu": "1", "memory": "1Gi"}

    assert resource_config_for_pod(pod({"limits": same, "requests": same}), enforce_cpu_limits=False).cpu_quota == -1


def test_memory_qos_protects_what_was_asked_for():
    config = resource_config_for_pod(pod({"requests": {"memory": "100Mi"}}), enforce_memory_qos=True)

    assert config.unified == {"memory.min": str(100 * MI)}


@pytest.mark.parametrize(
    ("request_bytes", "limit", "pages"),
    [
        pytest.param(100 * PAGE, 1100 * PAGE, 1000, id="between-request-and-limit"),
        pytest.param(100 * PAGE, 0, 1900, id="between-request-and-what-the-node-has"),
        pytest.param(100 * PAGE, 100 * PAGE, 0, id="not-when-guaranteed"),
        pytest.param(0, 0, 0, id="not-when-of-best-effort"),
        pytest.param(100 * PAGE, 100 * PAGE + 1, 0, id="not-below-the-request"),
    ],
)
def test_memory_is_throttled_at_nine_tenths_of_the_way_to_the_limit(request_bytes, limit, pages):
    assert memory_high(request_bytes, limit, 2100 * PAGE, 0.9) == pages * PAGE


def test_sizes_of_pages_have_the_names_of_cgroup_files():
    assert [page_size_name(size) for size in (2 * MI, GI, 64 << 10)] == ["2MB", "1GB", "64KB"]


def test_the_sizes_of_the_machine_are_its_folders(tmp_path):
    for name in ("hugepages-2048kB", "hugepages-1048576kB"):
        (tmp_path / name).mkdir()

    assert huge_page_sizes(tmp_path) == (GI, 2 * MI)
    assert huge_page_sizes(tmp_path / "absent") == ()


def test_a_container_gets_none_of_the_pages_that_it_does_not_ask_for():
    container = {"resources": {"limits": {"hugepages-2Mi": "4Mi"}}}

    assert container_huge_page_limits(container, (GI, 2 * MI)) == {"1GB": 0, "2MB": 4 * MI}


def test_pages_are_counted_in_bytes():
    assert huge_page_limits(read({"hugepages-2Mi": "10Mi", "cpu": "1"})) == {2 * MI: 10 * MI}


def test_best_effort_has_the_least_of_cpu():
    assert resource_config_for_pod(pod({})).cpu_shares == MIN_SHARES
