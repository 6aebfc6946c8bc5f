"""The user that a container runs as."""

import os

import pytest
from hyperkube_runtime.process.user import ProcessUser, process_user

from hyperkube.hookspecs.runtime import RuntimeFailed


def test_another_user_needs_root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "getuid", lambda: 1000)

    with pytest.raises(RuntimeFailed, match="runAsUser 5 needs root"):
        process_user({"runAsUser": 5})
    assert process_user({"runAsUser": 1000}) is None


def test_non_root_is_refused_to_root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    with pytest.raises(RuntimeFailed, match="container has runAsNonRoot and image will run as root"):
        process_user({"runAsNonRoot": True})


def test_root_becomes_the_user_with_all_groups_of_the_security_context(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    security = {"runAsUser": 70000, "supplementalGroups": [5], "fsGroup": 6}

    assert process_user(security) == ProcessUser(70000, 0, (5, 6))
    assert process_user({}) is None
