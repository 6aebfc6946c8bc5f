"""What the kubelet's options cannot be: each refusal in Kubernetes' words, before anything is made."""

import pytest
from hyperkube_host.kubelet.command import COMMAND, options_of
from hyperkube_host.kubelet.validation import LABELS

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

INVALID = "invalid configuration: "


def options(**given):
    values = {"container-runtime": "hollow", **{name.replace("_", "-"): value for name, value in given.items()}}
    return options_of(FlagValues.of(COMMAND.all_flags(), values))


def refusal(**given):
    with pytest.raises(UsageError) as refused:
        options(**given)
    return str(refused.value)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"port": 0, "healthz_port": 0, "read_only_port": 0},
        {"max_pods": 0, "event_qps": 0.0, "registry_qps": 0, "node_status_max_images": -1},
        {"image_gc_high_threshold": 100, "image_gc_low_threshold": 0, "oom_score_adj": -1000},
        {"image_maximum_gc_age": "2m1s"},
        {"serialize_image_pulls": False, "max_parallel_image_pulls": 3},
        {"cpu_cfs_quota_period": "5ms", "feature_gates": {"CustomCPUCFSQuotaPeriod": True}},
    ],
    ids=["defaults", "no ports", "least numbers", "bounds", "ages", "pulls", "quota period"],
)
def test_what_can_be_is_taken(given):
    options(**given)


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("node-lease-duration-seconds", 0, "nodeLeaseDurationSeconds must be greater than 0"),
        ("event-burst", -1, "eventBurst (--event-burst) -1 must not be a negative number"),
        ("event-qps", -1.0, "eventRecordQPS (--event-qps) -1 must not be a negative number"),
        ("kube-api-burst", -1, "kubeAPIBurst (--kube-api-burst) -1 must not be a negative number"),
        ("kube-api-qps", -1.0, "kubeAPIQPS (--kube-api-qps) -1 must not be a negative number"),
        ("max-open-files", -1, "maxOpenFiles (--max-open-files) -1 must not be a negative number"),
        ("max-pods", -1, "maxPods (--max-pods) -1 must not be a negative number"),
        ("pods-per-core", -1, "podsPerCore (--pods-per-core) -1 must not be a negative number"),
        ("registry-burst", -1, "registryBurst (--registry-burst) -1 must not be a negative number"),
        ("registry-qps", -1, "registryPullQPS (--registry-qps) -1 must not be a negative number"),
        ("healthz-port", 65536, "healthzPort (--healthz-port) 65536 must be between 1 and 65535, inclusive"),
        ("port", -1, "port (--port) -1 must be between 1 and 65535, inclusive"),
        ("read-only-port", 65536, "readOnlyPort (--read-only-port) 65536 must be between 0 and 65535, inclusive"),
        (
            "image-gc-high-threshold",
            101,
            "imageGCHighThresholdPercent (--image-gc-high-threshold) 101 must be between 0 and 100, inclusive",
        ),
        (
            "image-gc-low-threshold",
            -1,
            "imageGCLowThresholdPercent (--image-gc-low-threshold) -1 must be between 0 and 100, inclusive",
        ),
        (
            "image-gc-low-threshold",
            85,
            (
                "imageGCLowThresholdPercent (--image-gc-low-threshold) 85 must be less than"
                " imageGCHighThresholdPercent (--image-gc-high-threshold) 85"
            ),
        ),
        ("oom-score-adj", 1001, "oomScoreAdj (--oom-score-adj) 1001 must be between -1000 and 1000, inclusive"),
        ("node-status-max-images", -2, "nodeStatusMaxImages (--node-status-max-images) -2 must be -1 or greater"),
        ("minimum-image-ttl-duration", "-1s", "imageMinimumGCAge -1s must not be negative"),
        ("image-maximum-gc-age", "-1s", "imageMaximumGCAge -1s must not be negative"),
        ("image-maximum-gc-age", "2m", "imageMaximumGCAge 2m0s must be greater than imageMinimumGCAge 2m0s"),
        ("max-parallel-image-pulls", -1, "maxParallelImagePulls -1 must be a positive number"),
        (
            "max-parallel-image-pulls",
            3,
            (
                "maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls)"
                " is set to false"
            ),
        ),
        (
            "cpu-cfs-quota-period",
            "5ms",
            "cpuCFSQuotaPeriod (--cpu-cfs-quota-period) 5ms requires feature gate CustomCPUCFSQuotaPeriod",
        ),
        (
            "topology-manager-policy",
            "best",
            (
                'topologyManagerPolicy (--topology-manager-policy) "best" must be one of:'
                ' ["none" "best-effort" "restricted" "single-numa-node"]'
            ),
        ),
        (
            "topology-manager-scope",
            "node",
            'topologyManagerScope (--topology-manager-scope) "node" must be one of: "container", or "pod"',
        ),
        (
            "hairpin-mode",
            "veth",
            (
                'option "veth" specified for hairpinMode (--hairpin-mode).'
                ' Valid options are "none", "hairpin-veth" or "promiscuous-bridge"'
            ),
        ),
        ("container-log-max-workers", 0, "containerLogMaxWorkers must be greater than or equal to 1"),
        (
            "container-log-monitor-interval",
            "2s",
            "containerLogMonitorInterval must be a positive time duration greater than or equal to 3s",
        ),
        ("container-log-max-files", 1, "containerLogMaxFiles must be greater than 1"),
    ],
)
def test_a_value_that_cannot_be_is_refused(flag, value, message):
    assert refusal(**{flag: value}) == INVALID + message


@pytest.mark.parametrize("period", ["500us", "1001ms"])
def test_a_quota_period_has_bounds_where_it_can_be_chosen(period):
    gates = {"CustomCPUCFSQuotaPeriod": True}

    assert "must be between 1ms and 1sec, inclusive" in refusal(cpu_cfs_quota_period=period, feature_gates=gates)


@pytest.mark.parametrize("cgroup", ["system-reserved-cgroup", "kube-reserved-cgroup"])
def test_reserved_cpus_do_not_go_with_reserved_cgroups(cgroup):
    assert refusal(reserved_cpus="0", **{cgroup: "/x"}).startswith(
        "invalid configuration: can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup"
    )


@pytest.mark.parametrize(
    "label",
    [
        *LABELS,
        "node.kubernetes.io/x",
        "a.node.kubernetes.io/x",
        "kubelet.kubernetes.io/x",
        "pool",
        "notkubernetes.io/x",
    ],
)
def test_a_label_that_a_kubelet_may_set_is_taken(label):
    assert options(node_labels={label: "x"}).node.labels == {label: "x"}


@pytest.mark.parametrize("label", ["node-role.kubernetes.io/worker", "kubernetes.io/x", "a.k8s.io/x", "k8s.io/x"])
def test_a_label_of_kubernetes_own_is_not_a_kubelets_to_set(label):
    said = refusal(node_labels={label: "", "pool": "a"})

    assert said.startswith(
        f"unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [{label}]; --node"
    )
    assert "allowed prefix (kubelet.kubernetes.io, node.kubernetes.io) or be in the specifically allowed set" in said


@pytest.mark.parametrize(("name", "value", "wrong"), [("a b", "x", '"a b"'), ("pool", "-x", '"-x"')])
def test_a_label_that_none_can_have_is_refused(name, value, wrong):
    assert refusal(node_labels={name: value}).startswith(f"invalid node labels: {wrong}: ")


def test_all_problems_are_told_at_once():
    assert refusal(max_pods=-1, container_log_max_files=0) == (
        "[invalid configuration: maxPods (--max-pods) -1 must not be a negative number,"
        " invalid configuration: containerLogMaxFiles must be greater than 1]"
    )
