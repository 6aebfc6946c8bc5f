"""`hyperkube why` of a cluster that is not there: one line with the address that was asked."""

import json
import socket

import pytest

from hyperkube.command import main
from hyperkube.machinery.errors import UsageError


@pytest.mark.parametrize(
    "words", [("pending", "web"), ("changed", "pods/web"), ("forbidden", "--as", "alice", "get", "pods"), ("refused",)]
)
def test_an_address_that_does_not_answer_is_named(words, tmp_path, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        document = {
            "clusters": [{"name": "c", "cluster": {"server": f"http://{address}"}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        (tmp_path / "config").write_text(json.dumps(document))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))

        with pytest.raises(UsageError, match=f"^{address}: Connection refused$"):
            main.run("hyperkube", ["why", *words])
