"""A kubeconfig that somebody handed over is read at the cost of what it weighs, runs nothing, and is refused in one line."""

import itertools
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_client import quickly

from hyperkube.client.kubeconfig import client_from_kubeconfig
from hyperkube.machinery.errors import UsageError

SERVER = "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n"
REST = "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"
TOKEN = "users: [{name: u, user: {token: t}}]\n"


def chain(what):
    """Return anchors, each of which stands for ten of the one before."""
    names = "abcdefghi"
    first = f"{names[0]}: &{names[0]} {{k: v}}\n"
    return first + "".join(
        f"{name}: &{name} {what.format(','.join([f'*{before}'] * 10), name)}\n"
        for before, name in itertools.pairwise(names)
    )


def user(text):
    return f"{SERVER}{REST}users: [{{name: u, user: {{{text}}}}}]\n"


HOSTILE = {
    "aliases of aliases": chain("[{0}]") + SERVER + REST + TOKEN,
    "merges of merges": chain("{{<<: [{0}], {1}: v}}") + SERVER + REST,
    "itself": f"{SERVER}{REST}users: &a [{{name: u, user: {{token: t}}}}, *a]\n",
    "a map itself": f"a: &a {{b: *a}}\n{SERVER}{REST}{TOKEN}",
    "deep": "a: " + "[" * 100_000,
    "deep JSON": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "directives": "".join(f"%TAG !a{number}! x\n" for number in range(20_000)) + "---\n" + SERVER,
    "an object of Python": "!!python/object/apply:os.system ['true']\n",
    "a program": user("exec: {command: /bin/true, apiVersion: client.authentication.k8s.io/v1}"),
    "a provider": user("auth-provider: {name: gcp}"),
    "a text for a list": "clusters: hello\n",
    "numbers in lists": "clusters: [1]\nusers: [2]\ncontexts: [3]\n",
    "a text for a cluster": "clusters: [{name: c, cluster: hello}]\n",
    "no names": "clusters: [{cluster: {server: x}}]\n",
    "a map for a name": "clusters: [{name: {a: b}}]\n",
    "a number for a server": "clusters: [{name: c, cluster: {server: 5}}]\n",
    "half a server": "clusters: [{name: c, cluster: {server: 'https://[::1'}}]\n",
    "a port too high": "clusters: [{name: c, cluster: {server: 'https://a:999999'}}]\n",
    "a file for a server": "clusters: [{name: c, cluster: {server: 'file:///etc/passwd'}}]\n",
    "a number for a token": user("token: 5"),
    "a map for a key": user("client-certificate: {a: b}, client-key: /none"),
    "no key": user("client-certificate: /none, client-key: /none"),
    "no base 64": user("client-certificate-data: 5, client-key-data: '!'"),
    "no certificate": user("client-certificate-data: aGVsbG8=, client-key-data: aGVsbG8="),
    "a list for a context": f"{SERVER}contexts: []\ncurrent-context: [x]\n",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_it_is_refused_at_once(tmp_path, text):
    file = tmp_path / "config"
    file.write_text(text)

    def read():
        with pytest.raises(UsageError) as refused:
            client_from_kubeconfig(file)
        return str(refused.value)

    assert "Traceback" not in quickly(read, 2.0)


@pytest.mark.parametrize("value", ['token: "a\\r\\nX: y"', 'token: t, as: "a\\nX: y"'], ids=["token", "as"])
def test_it_adds_no_lines_to_requests(tmp_path, value):
    file = tmp_path / "config"
    file.write_text(user(value))
    client = client_from_kubeconfig(file)

    with pytest.raises(ConnectionError, match="line break"):
        client.request("GET", "/version")
