"""What Docker is asked for, given what CRI asks for."""

import pytest
from hyperkube_runtime.docker.create_requests import (
    NodeFacts,
    container_request,
    mount_bindings,
    resource_limits,
    sandbox_request,
)

from hyperkube.hookspecs.runtime import RuntimeFailed

NODE = NodeFacts(sandbox_image="pause:1", log_options={"max-file": "5"})
METADATA = {"name": "web", "namespace": "shop", "uid": "u"}


def pod(security=None, **fields):
    """Return a ``PodSandboxConfig``."""
    linux = {"security_context": security or {}, **fields.pop("linux", {})}
    return {"metadata": METADATA, "hostname": "web", "log_directory": "/logs/web", "linux": linux, **fields}


def container(security=None, resources=None, **fields):
    """Return a ``ContainerConfig``."""
    linux = {"security_context": security or {}, "resources": resources or {}}
    config = {"metadata": {"name": "app"}, "image": {"image": "sha256:1"}, "log_path": "app/0.log", "linux": linux}
    return {**config, **fields}


def test_a_sandbox_runs_the_pause_image_under_the_name_of_its_pod():
    made = sandbox_request(pod(labels={"app": "web"}, annotations={"note": "x"}), NODE)

    assert (made["Image"], made["Hostname"]) == ("pause:1", "web")
    assert made["Labels"] == {
        "app": "web",
        "annotation.note": "x",
        "io.kubernetes.docker.type": "podsandbox",
        "io.kubernetes.container.name": "POD",
    }


def test_a_sandbox_is_killed_last_and_gets_little_cpu():
    host = sandbox_request(pod(linux={"cgroup_parent": "/kubepods/podu"}), NODE)["HostConfig"]

    assert (host["OomScoreAdj"], host["CpuShares"], host["CgroupParent"]) == (-998, 2, "/kubepods/podu")
    assert host["LogConfig"] == {"Type": "json-file", "Config": {"max-file": "5"}}


def test_scores_are_not_lower_than_this_machine_allows():
    node = NODE.replace(least_oom_score_adj=0)

    assert sandbox_request(pod(), node)["HostConfig"]["OomScoreAdj"] == 0
    asked = container(resources={"oom_score_adj": -997})
    assert container_request(asked, pod(), "s", node)["HostConfig"]["OomScoreAdj"] == 0


def test_systemd_takes_the_name_of_the_slice_alone():
    node, parent = NODE.replace(systemd=True), {"cgroup_parent": "/kubepods.slice/kubepods-podu.slice"}

    assert sandbox_request(pod(linux=parent), node)["HostConfig"]["CgroupParent"] == "kubepods-podu.slice"


def test_docker_forwards_host_ports_on_its_own_bridge_only():
    ports = [
        {"host_port": 8080, "container_port": 80},
        {"host_port": 8081, "container_port": 80, "host_ip": "127.0.0.1"},
        {"host_port": 53, "container_port": 53, "protocol": "UDP"},
        {"container_port": 9},
    ]

    bridged = sandbox_request(pod(port_mappings=ports), NODE)
    plugged = sandbox_request(pod(port_mappings=ports), NODE.replace(network_mode="none"))

    assert bridged["HostConfig"]["PortBindings"] == {
        "80/tcp": [{"HostIp": "", "HostPort": "8080"}, {"HostIp": "127.0.0.1", "HostPort": "8081"}],
        "53/udp": [{"HostIp": "", "HostPort": "53"}],
    }
    assert bridged["ExposedPorts"] == {"80/tcp": {}, "53/udp": {}}
    assert plugged["HostConfig"]["NetworkMode"] == "none"
    assert "PortBindings" not in plugged["HostConfig"]


def test_a_pod_on_the_nodes_namespaces():
    security = {"namespace_options": {"network": "NODE", "pid": "NODE", "ipc": "NODE"}}
    of_sandbox = sandbox_request(pod(security), NODE.replace(network_mode="none"))["HostConfig"]
    of_container = container_request(container(security), pod(security), "s", NODE)["HostConfig"]

    assert [of_sandbox[name] for name in ("NetworkMode", "PidMode", "IpcMode")] == ["host", "host", "host"]
    names = ("NetworkMode", "PidMode", "IpcMode", "UTSMode")
    assert [of_container[name] for name in names] == ["container:s", "host", "host", "host"]


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        ({"pid": "CONTAINER"}, None),
        ({}, "container:s"),
        ({"pid": "TARGET", "target_id": "other"}, "container:other"),
    ],
    ids=["its own", "the pod's", "another container's"],
)
def test_whose_processes_a_container_sees(options, mode):
    made = container_request(container({"namespace_options": options}), pod(), "s", NODE)

    assert made["HostConfig"].get("PidMode") == mode
    assert made["HostConfig"]["IpcMode"] == "container:s"


def test_a_container_is_what_its_configuration_says():
    config = container(
        command=["sh"], args=["-c", "x"], working_dir="/w", stdin=True, stdin_once=True, tty=True, stop_signal="SIGUSR1",
        envs=[{"key": "A", "value": "1"}, {"key": "B"}], labels={"l": "1"},
        devices=[{"host_path": "/dev/a", "container_path": "/dev/b", "permissions": "rw"}],
    )  # fmt: skip

    made = container_request(config, pod(), "s", NODE)

    assert (made["Entrypoint"], made["Cmd"], made["Env"]) == (["sh"], ["-c", "x"], ["A=1", "B="])
    assert (made["Image"], made["WorkingDir"], made["StopSignal"]) == ("sha256:1", "/w", "SIGUSR1")
    assert (made["OpenStdin"], made["StdinOnce"], made["Tty"]) == (True, True, True)
    assert made["Labels"]["io.kubernetes.container.logpath"] == "/logs/web/app/0.log"
    assert made["Labels"]["io.kubernetes.sandbox.id"] == "s"
    device = {"PathOnHost": "/dev/a", "PathInContainer": "/dev/b", "CgroupPermissions": "rw"}
    assert made["HostConfig"]["Devices"] == [device]
    assert made["Healthcheck"] == {"Test": ["NONE"]}


def test_the_image_decides_about_what_is_not_said():
    made = container_request(container(), pod(), "s", NODE)

    assert (made["Entrypoint"], made["Cmd"]) == (None, None)
    assert "User" not in made


def test_limits_that_are_given():
    resources = {
        "memory_limit_in_bytes": 64, "memory_swap_limit_in_bytes": 64, "cpu_shares": 2, "cpu_quota": 10000,
        "cpu_period": 100000, "cpuset_cpus": "0-1", "cpuset_mems": "0", "hugepage_limits": [{"page_size": "2MB"}],
    }  # fmt: skip

    assert resource_limits(resources) == {
        "Memory": 64, "MemorySwap": 64, "CpuShares": 2, "CpuQuota": 10000, "CpuPeriod": 100000,
        "CpusetCpus": "0-1", "CpusetMems": "0",
    }  # fmt: skip
    assert resource_limits({"cpu_shares": 0}) == {}


def test_containers_with_a_limit_get_no_swap():
    assert resource_limits({"memory_limit_in_bytes": 64}) == {"Memory": 64, "MemorySwap": 64}


def test_mounts_are_bindings():
    mounts = [
        {"host_path": "/a", "container_path": "/b"},
        {"host_path": "/a", "container_path": "/c", "readonly": True},
        {"host_path": "/a", "container_path": "/d", "readonly": True, "propagation": "PROPAGATION_HOST_TO_CONTAINER"},
        {"host_path": "/a", "container_path": "/e", "propagation": "PROPAGATION_BIDIRECTIONAL"},
        {"host_path": "/a", "container_path": "/f", "selinux_relabel": True, "propagation": "PROPAGATION_PRIVATE"},
    ]

    assert mount_bindings(mounts) == ["/a:/b", "/a:/c:ro", "/a:/d:ro,rslave", "/a:/e:rshared", "/a:/f:Z"]


@pytest.mark.parametrize(
    ("mount", "text"),
    [
        ({"container_path": "/i", "image": {"image": "x"}}, "volumes of images are not supported by Docker"),
        ({"host_path": "/a", "container_path": "/b", "recursive_read_only": True}, "recursive read-only mounts"),
        ({"host_path": "/a:b", "container_path": "/b"}, "no paths with a colon"),
    ],
    ids=["image", "recursive", "colon"],
)
def test_mounts_that_docker_cannot_make_are_refused(mount, text):
    with pytest.raises(RuntimeFailed, match=text):
        mount_bindings([mount])


def test_what_docker_does_not_have_is_refused():
    with pytest.raises(RuntimeFailed, match="CDI devices are not supported by Docker"):
        container_request(container(CDI_devices=[{"name": "x"}]), pod(), "s", NODE)
    own_users = {"namespace_options": {"userns_options": {"mappings": []} | {"uids": [{"length": 1}]}}}
    with pytest.raises(RuntimeFailed, match="no user namespaces of single pods"):
        sandbox_request(pod(own_users), NODE)
