"""A KubeletConfiguration: each field acts as its flag does, or is named in the log."""

from __future__ import annotations

import pytest
from hyperkube_host.kubelet.command import COMMAND, options_of
from hyperkube_host.kubelet.directories import pod_logs_dir
from hyperkube_host.kubelet.nodeshutdown.grace_periods import read_grace_periods
from hyperkube_host.kubelet.pod.restart_backoff import read_restart_delays
from hyperkube_host.kubelet.thresholds import Amount, Threshold

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

HEAD = "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\n"
READ = """
staticPodPath: /etc/kubernetes/manifests
syncFrequency: 30s
fileCheckFrequency: 5s
address: 127.0.0.2
port: 10999
readOnlyPort: 10998
healthzPort: 10997
healthzBindAddress: 127.0.0.3
enableDebuggingHandlers: false
clusterDomain: cluster.test
clusterDNS: [10.0.0.10, 10.0.0.11]
maxPods: 7
nodeStatusUpdateFrequency: 3s
nodeLeaseDurationSeconds: 50
resolvConf: /dev/null
containerLogMaxSize: 1Mi
registerNode: false
registerWithTaints: [{key: a, value: b, effect: NoSchedule}]
providerID: cloud://1
evictionHard: {memory.available: 1Gi}
evictionSoft: {memory.available: 2Gi}
evictionSoftGracePeriod: {memory.available: 1m30s}
evictionMinimumReclaim: {memory.available: 500Mi}
evictionPressureTransitionPeriod: 1m
evictionMaxPodGracePeriod: 20
imageGCHighThresholdPercent: 70
imageGCLowThresholdPercent: 60
imageMaximumGCAge: 100h
containerLogMaxWorkers: 2
containerLogMonitorInterval: 20s
maxParallelImagePulls: 4
serializeImagePulls: false
preloadedImagesVerificationAllowlist: [registry.test/app]
featureGates: {GenericWorkload: true}
streamingConnectionIdleTimeout: 1h
crashLoopBackOff: {maxContainerRestartPeriod: 20s}
podLogsDir: /var/log/pods
shutdownGracePeriodByPodPriority: [{priority: 1000, shutdownGracePeriodSeconds: 20}, {priority: 0, shutdownGracePeriodSeconds: 30}]
authentication: {x509: {clientCAFile: /ca.crt}, anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
"""
UNREAD = """
cgroupDriver: systemd
memorySwap: {}
logging: {format: json}
"""
# What kubeadm writes.
ZEROS = """
authentication: {webhook: {cacheTTL: 0s}}
authorization: {webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}}
syncFrequency: 0s
fileCheckFrequency: 0s
httpCheckFrequency: 0s
nodeStatusUpdateFrequency: 0s
nodeStatusReportFrequency: 0s
imageMinimumGCAge: 0s
imageMaximumGCAge: 0s
runtimeRequestTimeout: 0s
evictionPressureTransitionPeriod: 0s
containerLogMaxSize: ""
maxPods: 0
resolvConf: ""
registryPullQPS: 0
healthzPort: 0
"""


def options(tmp_path, text, **given):
    file = tmp_path / "kubelet.yaml"
    file.write_text(text)
    flags = {name.replace("_", "-"): value for name, value in given.items()}
    return options_of(FlagValues.of(COMMAND.all_flags(), {"config": str(file), "container-runtime": "hollow", **flags}))


def test_a_zero_is_the_default_unless_the_field_is_a_pointer(tmp_path):
    flags = {flag.name: flag for flag in COMMAND.all_flags()}
    found = options(tmp_path, HEAD + ZEROS).values

    for name in (
        "authentication-token-webhook-cache-ttl", "authorization-webhook-cache-authorized-ttl",
        "authorization-webhook-cache-unauthorized-ttl", "sync-frequency", "file-check-frequency",
        "http-check-frequency", "node-status-update-frequency", "node-status-report-frequency",
        "minimum-image-ttl-duration", "runtime-request-timeout", "eviction-pressure-transition-period",
        "container-log-max-size", "max-pods",
    ):  # fmt: skip
        assert found[name] == flags[name].default_value != 0, name
    assert (found["resolv-conf"], found["registry-qps"], found["healthz-port"]) == ("", 0, 0)


def test_fields_are_flags_by_other_names(tmp_path, caplog):
    found = options(tmp_path, HEAD + READ)

    assert caplog.records == []
    assert (found.sources.manifest_path, found.sources.file_check_seconds) == ("/etc/kubernetes/manifests", 5.0)
    assert (found.server.address, found.server.port, found.server.read_only_port) == ("127.0.0.2", 10999, 10998)
    assert (found.server.healthz_address, found.server.healthz_port) == ("127.0.0.3", 10997)
    assert (found.server.debugging_handlers, found.server.anonymous, found.server.token_webhook) == (False, True, False)
    assert (found.server.client_ca_file, found.server.authorization_mode) == ("/ca.crt", "AlwaysAllow")
    assert (found.pods.sync_seconds, found.pods.cluster_domain) == (30.0, "cluster.test")
    assert (found.pods.cluster_dns, str(found.pods.resolv_conf)) == (("10.0.0.10", "10.0.0.11"), "/dev/null")
    assert (found.pods.log_max_bytes, found.node.max_pods, found.node.register) == (1 << 20, 7, False)
    assert (found.node.status_update_seconds, found.node.lease_seconds) == (3.0, 50)
    assert found.node.taints == ({"key": "a", "value": "b", "effect": "NoSchedule"},)
    assert (found.node.provider_id, found.node.pressure_transition_seconds) == ("cloud://1", 60.0)
    reclaim = Amount(500 << 20)
    assert found.node.thresholds == (
        Threshold("memory.available", Amount(1 << 30), 0.0, reclaim),
        Threshold("memory.available", Amount(2 << 30), 90.0, reclaim),
        Threshold("allocatableMemory.available", Amount(1 << 30), 0.0, reclaim),
    )
    assert (found.images.gc_high_percent, found.images.gc_low_percent, found.images.max_parallel) == (70, 60, 4)
    assert (found.images.gc_max_age_seconds, found.images.verification_allowlist) == (360000.0, ("registry.test/app",))
    assert (found.pods.log_max_workers, found.pods.log_monitor_seconds) == (2, 20.0)
    assert found.node.eviction_max_pod_grace_seconds == 20
    assert read_restart_delays(found.values) == (10, 20)
    assert str(pod_logs_dir(found.values)) == "/var/log/pods"
    assert read_grace_periods(found.values) == ((0, 30), (1000, 20))
    assert found.server.stream_idle_seconds == 3600
    assert found.server.gates == {"GenericWorkload": True}


def test_a_flag_counts_more(tmp_path):
    assert options(tmp_path, HEAD + "maxPods: 7", max_pods=9).node.max_pods == 9


def test_files_of_a_folder_are_merged_by_name(tmp_path):
    folder = tmp_path / "drop-ins"
    (folder / "20-more").mkdir(parents=True)
    (folder / "10-first.conf").write_text(HEAD + "maxPods: 8\nclusterDomain: first\nresolvConf: /dev/null\n")
    (folder / "20-more" / "30.conf").write_text(HEAD + "clusterDNS: [10.0.0.9]\nresolvConf: null\n")
    (folder / "90-last.conf").write_text(HEAD + "authentication: {anonymous: {enabled: true}}\nmaxPods: 9\n")
    (folder / "95-unread.yaml").write_text("maxPods: 10\n")
    base = "maxPods: 7\nclusterDNS: [10.0.0.10, 10.0.0.11]\nauthentication: {webhook: {enabled: false}}\n"

    found = options(tmp_path, HEAD + base, config_dir=str(folder))

    assert (found.node.max_pods, found.pods.cluster_domain, found.pods.cluster_dns) == (9, "first", ("10.0.0.9",))
    assert (found.server.anonymous, found.server.token_webhook) == (True, False)
    assert str(found.pods.resolv_conf) == "/etc/resolv.conf"


def test_a_folder_needs_no_file_beside_it(tmp_path):
    (tmp_path / "one.conf").write_text(HEAD + "maxPods: 8\n")
    values = {"config-dir": str(tmp_path), "container-runtime": "hollow"}

    assert options_of(FlagValues.of(COMMAND.all_flags(), values)).node.max_pods == 8


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD + "maxPods: many", "invalid argument 'many' for --config: maxPods"),
        ("maxPods: 7", "--config-dir: '.*a.conf' is no KubeletConfiguration of"),
        ("kind: [", "--config-dir: cannot read '.*a.conf'"),
    ],
)
def test_a_bad_file_of_the_folder_is_one_line(tmp_path, text, says):
    folder = tmp_path / "drop-ins"
    folder.mkdir()
    (folder / "a.conf").write_text(text)

    with pytest.raises(UsageError, match=says):
        options(tmp_path, HEAD, config_dir=str(folder))


def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UsageError, match=r"--config-dir: cannot read '.*none'"):
        options(tmp_path, HEAD, config_dir=str(tmp_path / "none"))


def test_fields_without_effect_are_named(tmp_path, caplog):
    options(tmp_path, HEAD + UNREAD)

    named = [record.getMessage().partition("field ")[2].partition(" ")[0] for record in caplog.records]
    assert named == [
        "logging",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["maxPodz: 5", "authentication: {x509: {clientCA: /ca.crt}}", "memorySwap: {behavior: NoSwap}"],
    ids=["field", "nested field", "field of a section"],
)
def test_a_field_that_does_not_exist_is_named_as_such_and_left_out(tmp_path, caplog, text):
    found = options(tmp_path, f"{HEAD}{text}\nmaxPods: 7")

    said, named = caplog.messages, text.replace(": {", ".").partition(":")[0]
    assert [message.partition("kubelet.yaml: ")[2] for message in said] == [
        f'strict decoding error: unknown field "{named}"'
    ]
    assert found.node.max_pods == 7


def test_rates_of_requests_and_running_once_are_fields(tmp_path):
    values = options(tmp_path, HEAD + "kubeAPIQPS: 7\nrunOnce: true").values

    assert (values["kube-api-qps"], values["runonce"]) == (7, True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD + "maxPods: many", "invalid argument 'many' for --config: maxPods"),
        (HEAD + "featureGates: {Nonsense: true}", "unrecognized feature gate: Nonsense"),
        ("kind: KubeletConfiguration\napiVersion: v1\n", "is no KubeletConfiguration of"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path, text, says):
    with pytest.raises(UsageError, match=says):
        options(tmp_path, text)


@pytest.mark.parametrize(
    ("folder", "says"), [("logs", 'pod logs path "logs" must be absolute'), ("/var/../logs", "must be normalized")]
)
def test_the_folder_of_logs_is_an_absolute_path(tmp_path, folder, says):
    with pytest.raises(UsageError, match=says):
        pod_logs_dir(options(tmp_path, HEAD + f"podLogsDir: {folder}").values)
