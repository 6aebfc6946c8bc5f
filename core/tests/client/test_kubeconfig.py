"""Kubeconfig files: reading, merging, writing, and the client that comes out."""

import base64
import ssl
import stat
import sys
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hyperkube.client import kubeconfig
from hyperkube.client.connection_pool import TlsOptions
from hyperkube.machinery.errors import UsageError

CONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1", certificate-authority: ca.crt}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: ns}}]
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
    assert access.namespace == "ns"


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


TEXT = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)
WORDS = [
    "yes",
    "~",
    "null",
    "1",
    "1e3",
    "a: b",
    "- a",
    "# a",
    "'",
    "a:",
    "http://[::1]:1/x?y",
    "LS0tLS1CRUdJTg==",
    "a\nb",
]


@given(st.dictionaries(TEXT | st.sampled_from(WORDS), JSON | st.sampled_from(WORDS)))
def test_every_yaml_reader_understands_what_is_written(document):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config"

        kubeconfig.write(file, document)

        assert yaml.safe_load(file.read_bytes()) == document
        assert yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader) == document


def test_files_read_like_those_of_kubectl(tmp_path):
    file = tmp_path / "config"
    cluster = {"server": "https://127.0.0.1:6443", "certificate-authority-data": "LS0tLS1CRUdJTg=="}

    kubeconfig.write(file, {"apiVersion": "v1", "clusters": [{"name": "a b", "cluster": cluster}], "users": []})

    assert file.read_text() == (
        "apiVersion: v1\nclusters:\n"
        '- name: "a b"\n  cluster:\n    server: https://127.0.0.1:6443\n'
        "    certificate-authority-data: LS0tLS1CRUdJTg==\nusers: []\n"
    )


def test_an_unknown_context_lists_the_known_ones(file):
    with pytest.raises(UsageError, match=r"no context 'y' \(known: x\)"):
        kubeconfig.resolve(kubeconfig.read(file), "y")


def test_a_missing_file_is_the_users_mistake(tmp_path):
    with pytest.raises(UsageError, match="cannot read kubeconfig"):
        kubeconfig.read(tmp_path / "none")


def test_one_in_json_is_read_without_yaml(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)  # an import of it fails
    (tmp_path / "config").write_text('{"users": [{"name": "u", "user": {"tokenFile": "t"}}], "current-context": null}')

    config = kubeconfig.read(tmp_path / "config")

    assert config["users"] == [{"name": "u", "user": {"tokenFile": str(tmp_path / "t")}}]
    assert config["current-context"] == ""


@pytest.mark.parametrize("text", ["{", "a: b: c", "[1]", "\x00"])
def test_what_is_neither_json_nor_yaml_is_the_users_mistake(tmp_path, text):
    (tmp_path / "config").write_text(text)

    with pytest.raises(UsageError, match="kubeconfig"):
        kubeconfig.read(tmp_path / "config")


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


def test_who_trusts_any_server_loads_no_authorities():
    context = TlsOptions(insecure=True).context()

    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_NONE, False)
    assert context.cert_store_stats()["x509_ca"] == 0
