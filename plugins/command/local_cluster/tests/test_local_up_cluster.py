"""The command line of local-up-cluster: what it refuses before anything starts, and what its components are."""

import socket
import sys

import pytest
from click.testing import CliRunner
from hyperkube_command.local_cluster.arguments import ClusterOptions, arguments
from hyperkube_command.local_cluster.local_up_cluster import Script, command, components_flags, etcd_command
from hyperkube_command.local_cluster.processes import PROGRAM
from hyperkube_lib.local_cluster.layout import CertificateFolderLayout

from hyperkube.machinery.errors import UsageError


@pytest.fixture
def script(tmp_path):
    return Script(program=PROGRAM, log_folder=tmp_path / "logs", etcd_port=2399, insecure_port=8081)


@pytest.fixture
def cluster(tmp_path, script):
    layout = CertificateFolderLayout(tmp_path / "root", tmp_path / "pki")
    return ClusterOptions(layout=layout, node_name="127.0.0.1", api_host="localhost", extra=components_flags(script))


def refused(*words, **environment):
    with pytest.raises(UsageError) as found:
        CliRunner(env=environment).invoke(command, words, catch_exceptions=False)
    return str(found.value)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def test_a_folder_without_hyperkube_is_refused(tmp_path):
    free = dict.fromkeys(("API_SECURE_PORT", "KUBELET_PORT"), str(free_port()))

    said = refused("-o", str(tmp_path), "--api-port=0", **free)

    assert said == f"there is no hyperkube in {str(tmp_path)!r}"


def test_a_taken_port_is_refused_with_what_it_is_for():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        said = refused(API_SECURE_PORT=str(port))

    assert said == f"cannot listen on port {port} for the API server: Address already in use"


def test_the_api_server_stores_in_etcd_and_listens_without_tls_too(cluster):
    line = arguments(cluster)["apiserver"]

    assert {"--etcd-servers=http://127.0.0.1:2399", "--insecure-port=8081", "--insecure-bind-address=127.0.0.1"} <= {
        *line
    }
    assert f"--client-ca-file={cluster.layout.certificates / 'client-ca.crt'}" in line


def test_without_an_insecure_port_there_is_no_flag_of_one(script):
    assert not [flag for flag in components_flags(script.replace(insecure_port=0))["apiserver"] if "insecure" in flag]


def test_the_kubeconfig_names_localhost_and_lies_beside_the_certificates(cluster):
    assert cluster.server == "https://localhost:6443"
    assert cluster.layout.admin_kubeconfig == cluster.layout.certificates / "admin.kubeconfig"


def test_etcd_is_the_one_on_the_path(cluster, script, tmp_path, monkeypatch):
    program = tmp_path / "etcd"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert etcd_command(cluster, script)[0] == str(program)


def test_without_etcd_hyperkubes_own_takes_its_place(cluster, script, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert etcd_command(cluster, script)[:4] == [sys.executable, "-m", "hyperkube.command.main", "etcd"]
    assert "etcd is not on the PATH" in capsys.readouterr().out
