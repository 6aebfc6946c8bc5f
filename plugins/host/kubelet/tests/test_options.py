"""From the values of flags to the kubelet's options."""

import socket
from pathlib import Path

import pytest
from hyperkube_host.kubelet.command import COMMAND, without_mount_propagation
from hyperkube_host.kubelet.flags import FLAGS
from hyperkube_host.kubelet.nodestatus.setters import pod_capacity
from hyperkube_host.kubelet.options import KubeletOptions

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

KUBERNETES_DEFAULTS = {
    "address": "0.0.0.0",
    "port": 10250, "healthz-port": 10248, "healthz-bind-address": "127.0.0.1", "cadvisor-port": 0, "read-only-port": 0,
    "root-dir": "/var/lib/kubelet", "enable-server": True, "enable-debugging-handlers": True, "register-node": True,
    "file-check-frequency": 20, "http-check-frequency": 20, "sync-frequency": 60, "node-status-update-frequency": 10,
    "max-pods": 110, "registry-qps": 5, "registry-burst": 10, "serialize-image-pulls": True, "oom-score-adj": -999,
    "image-gc-high-threshold": 85, "image-gc-low-threshold": 80, "minimum-container-ttl-duration": 0,
    "maximum-dead-containers-per-container": 1, "maximum-dead-containers": -1, "runonce": False, "chaos-chance": 0.0,
    "make-iptables-util-chains": True, "streaming-connection-idle-timeout": 4 * 3600,
}  # fmt: skip
"""Flag → default of 1.36; of a flag that it has no more, the last one."""


def options(**values):
    given = {"container-runtime": "hollow", **{name.replace("_", "-"): value for name, value in values.items()}}
    return KubeletOptions.of(FlagValues.of(FLAGS, given))


def test_without_flags_the_node_is_the_machine():
    found = options()

    assert found.node.name == socket.gethostname().lower()
    assert found.values["hostname-override"] == found.node.name
    assert (found.node.max_pods, found.node.lease_seconds, found.pods.log_max_bytes) == (110, 40, 10 << 20)


def test_the_defaults_are_kubernetes():
    values = options().values

    assert {name: values[name] for name in KUBERNETES_DEFAULTS} == KUBERNETES_DEFAULTS


@pytest.mark.parametrize(("runtime", "is_found"), [("", True), ("remote", True), ("docker", False), ("process", False)])
def test_a_socket_that_is_there_is_for_the_remote_runtime_alone(tmp_path, monkeypatch, runtime, is_found):
    path = tmp_path / "cri.sock"
    monkeypatch.setattr("hyperkube_host.kubelet.options.RUNTIME_SOCKETS", (str(path),))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        found = options(container_runtime=runtime)

    assert found.runtime.runtime == (runtime or "remote")
    assert found.values["container-runtime-endpoint"] == (f"unix://{path}" if is_found else "")


@pytest.mark.parametrize(("given", "root"), [("", "/node/seccomp"), ("/etc/profiles", "/etc/profiles")])
def test_seccomp_profiles_are_below_the_root_unless_they_are_elsewhere(given, root):
    assert options(root_dir="/node", seccomp_profile_root=given).pods.seccomp_root == Path(root)


def test_values_are_read_as_their_types(tmp_path):
    found = options(
        node_ip="10.0.0.1,fd00::1",
        node_labels="zone=a,disk=ssd",
        register_with_taints="dedicated=db:NoSchedule,gpu:NoExecute",
        sync_frequency="1m30s",
        root_dir=str(tmp_path),
    )

    assert found.node.ips == ("10.0.0.1", "fd00::1")
    assert found.node.labels == {"zone": "a", "disk": "ssd"}
    assert found.node.taints == (
        {"key": "dedicated", "value": "db", "effect": "NoSchedule"},
        {"key": "gpu", "effect": "NoExecute"},
    )
    assert found.pods.sync_seconds == 90
    assert found.server.cert_dir == Path(tmp_path, "pki")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"register_with_taints": "a=b"}, "'a=b' is not key=value:effect"),
        ({"register_with_taints": "a=b:Never"}, "effects: NoSchedule, PreferNoSchedule, NoExecute"),
        ({"authorization_mode": "RBAC"}, "is none of the kubelet's: Webhook, AlwaysAllow"),
        (
            {"manifest_url_header": "a:b:c"},
            "manifest-url-header must have a single ':' key-value separator, got \"a:b:c\"",
        ),
        ({"eviction_hard": "memory.available"}, "--eviction-hard: 'memory.available' is not SIGNAL<AMOUNT"),
        ({"container_log_max_size": "much"}, "--container-log-max-size='much'"),
    ],
)
def test_a_value_that_cannot_be_is_one_line(values, text):
    with pytest.raises(UsageError) as error:
        options(**values)

    assert text in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("content", "is_manifest"), [("kind: Pod", True), ("kind: KubeletConfiguration", False)])
def test_config_names_static_pods_unless_it_is_a_configuration(tmp_path, content, is_manifest):
    file = tmp_path / "config"
    file.write_text(content)

    assert options(config=str(file)).sources.manifest_path == (str(file) if is_manifest else "")


@pytest.mark.parametrize(
    ("values", "serves"),
    [({}, True), ({"port": 0}, False), ({"enable_server": False}, False)],
    ids=["by default", "no port", "switched off"],
)
def test_the_api_is_served_unless_it_is_switched_off(values, serves):
    assert options(**values).server.is_serving is serves


def test_parallel_pulls_are_not_made_one_by_one():
    found = options(max_parallel_image_pulls=3, serialize_image_pulls=False).images
    assert (found.max_parallel, found.serialize, found.verifies) == (3, False, True)


def test_credential_providers_need_both_flags():
    with pytest.raises(UsageError, match="must be set together"):
        options(image_credential_provider_config="x")


def test_a_cloud_provider_that_is_not_installed_is_told_with_those_that_are():
    with pytest.raises(UsageError, match=r"^cloud plugin 'fak' is not installed"):
        options(cloud_provider="fak")

    assert options(cloud_provider="external").values["cloud-provider"] == "external"


@pytest.mark.parametrize(
    ("per_core", "cores", "pods"),
    [(0, 4, 110), (10, 4, 40), (40, 4, 110)],
    ids=["no limit", "fewer", "no more than all"],
)
def test_pods_per_core_lowers_what_a_node_takes(per_core, cores, pods):
    assert pod_capacity(options(pods_per_core=per_core).node, cores) == pods


def test_mount_propagation_cannot_be_switched_off_and_need_not_be_switched_on():
    def gates(**given):
        values = FlagValues.of(COMMAND.all_flags(), {"feature-gates": given})
        return without_mount_propagation(values)["feature-gates"]

    assert gates(MountPropagation=True, EventedPLEG=True) == {"EventedPLEG": True}
    assert gates() == {}
    with pytest.raises(
        UsageError, match=r"mount propagation feature gate has been deprecated and will be removed in 1.14"
    ):
        gates(MountPropagation=False)
