"""What the kubelet's options cannot be, in Kubernetes' words, told before anything is made or opened.

What belongs to the container manager, to graceful shutdown and to restarts is checked where it is read. A port of 0 is
taken where Kubernetes refuses it: it switches off what would be served there.

Source: kubernetes ``pkg/kubelet/apis/config/validation/validation.go`` (ValidateKubeletConfiguration) and
``cmd/kubelet/app/options/options.go`` (ValidateKubeletFlags).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperkube_host.kubelet.cm.topologymanager.topology_manager import POLICIES, SCOPES

from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.durations import format_duration
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import quote
from hyperkube.machinery.names import label_value, qualified_name
from hyperkube.plugin.flags import FlagValues

HAIRPIN_MODES = ("none", "hairpin-veth", "promiscuous-bridge")
QUOTA_PERIOD_GATE = "CustomCPUCFSQuotaPeriod"
LABEL_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
"""Prefixes below which a kubelet may label its node, in Kubernetes' own namespaces."""
LABELS = (
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
)
"""Labels of those namespaces that it may set, too."""
_NOT_NEGATIVE = (
    ("eventBurst", "event-burst"),
    ("eventRecordQPS", "event-qps"),
    ("kubeAPIBurst", "kube-api-burst"),
    ("kubeAPIQPS", "kube-api-qps"),
    ("maxOpenFiles", "max-open-files"),
    ("maxPods", "max-pods"),
    ("podsPerCore", "pods-per-core"),
    ("registryBurst", "registry-burst"),
    ("registryPullQPS", "registry-qps"),
)
_PORTS = (("healthzPort", "healthz-port", 1), ("port", "port", 1), ("readOnlyPort", "read-only-port", 0))
_IN_RANGE = (
    ("imageGCHighThresholdPercent", "image-gc-high-threshold", 0, 100),
    ("imageGCLowThresholdPercent", "image-gc-low-threshold", 0, 100),
    ("oomScoreAdj", "oom-score-adj", -1000, 1000),
)
_LAST_PORT = 65535
_DEFAULT_QUOTA_PERIOD, _SHORTEST_QUOTA_PERIOD, _LONGEST_QUOTA_PERIOD = 0.1, 0.001, 1.0
_SHORTEST_LOG_MONITOR_INTERVAL = 3.0


def validate(values: FlagValues) -> None:
    """Refuse values that cannot be.

    Args:
        values: of all flags, those of the configuration file among them.

    Raises:
        UsageError: what is wrong with them, in one line: a problem, or a list of problems in brackets.
    """
    problems = [
        *_node_labels(values["node-labels"]),
        *(
            f"invalid configuration: {problem}"
            for problem in (
                *_numbers(values),
                *_images(values),
                *_pulls(values),
                *_cpus(values),
                *_choices(values),
                *_logs(values),
            )
        ),
    ]
    if problems:
        raise UsageError(aggregate(problems))


def _node_labels(labels: Mapping[str, str]) -> Iterator[str]:
    unknown = sorted(name for name in labels if _is_kubernetes(name) and not _is_allowed(name))
    if unknown:
        yield (
            f"unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [{' '.join(unknown)}];"
            " --node-labels in the 'kubernetes.io' namespace must begin with an allowed prefix"
            f" ({', '.join(LABEL_NAMESPACES)}) or be in the specifically allowed set ({', '.join(LABELS)})"
        )
    wrong = [
        f"{quote(text)}: {', '.join(errors)}"
        for name, value in labels.items()
        for text, errors in ((name, qualified_name(name)), (value, label_value(value)))
        if errors
    ]
    if wrong:
        yield f"invalid node labels: {'; '.join(wrong)}"


def _namespace(label: str) -> str:
    return label.partition("/")[0] if "/" in label else ""


def _is_kubernetes(label: str) -> bool:
    return f".{_namespace(label)}".endswith((".kubernetes.io", ".k8s.io"))


def _is_allowed(label: str) -> bool:
    below = tuple(f".{namespace}" for namespace in LABEL_NAMESPACES)
    return label in LABELS or f".{_namespace(label)}".endswith(below)


def _numbers(values: FlagValues) -> Iterator[str]:
    if values["node-lease-duration-seconds"] <= 0:
        yield "nodeLeaseDurationSeconds must be greater than 0"
    for field, flag in _NOT_NEGATIVE:
        if (number := values[flag]) < 0:
            yield f"{field} (--{flag}) {number:g} must not be a negative number"
    for field, flag, shown in _PORTS:
        if not 0 <= (port := values[flag]) <= _LAST_PORT:
            yield f"{field} (--{flag}) {port} must be between {shown} and {_LAST_PORT}, inclusive"
    for field, flag, least, most in _IN_RANGE:
        if not least <= (number := values[flag]) <= most:
            yield f"{field} (--{flag}) {number} must be between {least} and {most}, inclusive"
    if (images := values["node-status-max-images"]) < -1:
        yield f"nodeStatusMaxImages (--node-status-max-images) {images} must be -1 or greater"


def _images(values: FlagValues) -> Iterator[str]:
    high, low = values["image-gc-high-threshold"], values["image-gc-low-threshold"]
    if low >= high:
        yield (
            f"imageGCLowThresholdPercent (--image-gc-low-threshold) {low} must be less than"
            f" imageGCHighThresholdPercent (--image-gc-high-threshold) {high}"
        )
    youngest, oldest = values["minimum-image-ttl-duration"], values["image-maximum-gc-age"]
    for field, age in (("imageMinimumGCAge", youngest), ("imageMaximumGCAge", oldest)):
        if age < 0:
            yield f"{field} {format_duration(age)} must not be negative"
    if 0 < oldest <= youngest:
        shown = f"{format_duration(oldest)} must be greater than imageMinimumGCAge {format_duration(youngest)}"
        yield f"imageMaximumGCAge {shown}"


def _pulls(values: FlagValues) -> Iterator[str]:
    at_once = values["max-parallel-image-pulls"]
    if at_once < 0:
        yield f"maxParallelImagePulls {at_once} must be a positive number"
    if values["serialize-image-pulls"] and at_once > 1:
        yield (
            "maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls)"
            " is set to false"
        )


def _cpus(values: FlagValues) -> Iterator[str]:
    period, field = values["cpu-cfs-quota-period"], "cpuCFSQuotaPeriod (--cpu-cfs-quota-period)"
    if not values["feature-gates"].get(QUOTA_PERIOD_GATE, False):
        if period != _DEFAULT_QUOTA_PERIOD:
            yield f"{field} {format_duration(period)} requires feature gate {QUOTA_PERIOD_GATE}"
    elif not _SHORTEST_QUOTA_PERIOD <= period <= _LONGEST_QUOTA_PERIOD:
        yield f"{field} {format_duration(period)} must be between 1ms and 1sec, inclusive"
    if values["reserved-cpus"] and (values["system-reserved-cgroup"] or values["kube-reserved-cgroup"]):
        yield (
            "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup)"
            " or kubeReservedCgroup (--kube-reserved-cgroup)"
        )


def _choices(values: FlagValues) -> Iterator[str]:
    policy, scope = values["topology-manager-policy"], values["topology-manager-scope"]
    hairpin = values["hairpin-mode"]
    if policy not in POLICIES:
        known = " ".join(map(quote, POLICIES))
        yield f"topologyManagerPolicy (--topology-manager-policy) {quote(policy)} must be one of: [{known}]"
    if scope not in SCOPES:
        known = ", or ".join(map(quote, SCOPES))
        yield f"topologyManagerScope (--topology-manager-scope) {quote(scope)} must be one of: {known}"
    if hairpin not in HAIRPIN_MODES:
        first, second, last = map(quote, HAIRPIN_MODES)
        yield (
            f"option {quote(hairpin)} specified for hairpinMode (--hairpin-mode)."
            f" Valid options are {first}, {second} or {last}"
        )


def _logs(values: FlagValues) -> Iterator[str]:
    if values["container-log-max-workers"] < 1:
        yield "containerLogMaxWorkers must be greater than or equal to 1"
    if values["container-log-monitor-interval"] < _SHORTEST_LOG_MONITOR_INTERVAL:
        yield "containerLogMonitorInterval must be a positive time duration greater than or equal to 3s"
    if values["container-log-max-files"] <= 1:
        yield "containerLogMaxFiles must be greater than 1"
