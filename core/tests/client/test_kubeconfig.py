"""Kubeconfig files: reading, merging, writing, and the client that comes out."""

import base64
import stat

import pytest

from hyperkube.client import kubeconfig
from hyperkube.machinery.errors import UsageError

CONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1", certificate-authority: ca.crt}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: n}}]
current-context: x
"""


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "config"
    file.write_text(CONFIG)
    return file


def test_relative_files_count_from_the_configs_folder(file):
    access = kubeconfig.resolve(kubeconfig.read(file))

    assert access.cluster["certificate-authority"] == str(file.parent / "ca.crt")
    assert access.namespace == "n"


def test_a_client_takes_server_and_token(file):
    client = kubeconfig.client_from_kubeconfig(file)

    with pytest.raises(ConnectionError):
        client.request("GET", "/healthz")


def test_the_first_of_merged_configs_wins(file):
    first = kubeconfig.put(kubeconfig.empty(), "users", "u", {"token": "first"})

    merged = kubeconfig.merge([first, kubeconfig.read(file)])

    assert kubeconfig.resolve(merged, "x").user == {"token": "first"}
    assert merged["current-context"] == "x"


def test_putting_an_entry_replaces_the_one_of_that_name(file):
    config = kubeconfig.put(kubeconfig.read(file), "contexts", "x", {"cluster": "c"})

    assert config["contexts"] == [{"name": "x", "context": {"cluster": "c"}}]


def test_a_written_file_is_for_its_owner_only(tmp_path):
    file = tmp_path / "sub" / "config"

    kubeconfig.write(file, kubeconfig.empty())

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert kubeconfig.read(file) == kubeconfig.empty()


def test_an_unknown_context_lists_the_known_ones(file):
    with pytest.raises(UsageError, match=r"no context 'y' \(known: x\)"):
        kubeconfig.resolve(kubeconfig.read(file), "y")


def test_a_missing_file_is_the_users_mistake(tmp_path):
    with pytest.raises(UsageError, match="cannot read kubeconfig"):
        kubeconfig.read(tmp_path / "none")


def test_credentials_by_a_program_are_refused(file):
    config = kubeconfig.put(kubeconfig.read(file), "users", "u", {"exec": {"command": "aws"}})

    with pytest.raises(UsageError, match="'exec'"):
        kubeconfig.client_for(kubeconfig.resolve(config))


def test_bad_inline_certificates_are_the_users_mistake(file):
    data = base64.b64encode(b"no pem").decode()
    cluster = {"server": "https://127.0.0.1:1", "certificate-authority-data": data}
    config = kubeconfig.put(kubeconfig.read(file), "clusters", "c", cluster)

    with pytest.raises(UsageError, match="certificates"):
        kubeconfig.client_for(kubeconfig.resolve(config))
