"""The user that a container runs as."""

import os

import pytest
from hyperkube_runtime.process.user import ProcessUser, process_user

from hyperkube.hookspecs.runtime import RuntimeFailed


def test_another_user_needs_root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "getuid", lambda: 1000)

    with pytest.raises(RuntimeFailed, match="runAsUser 5 needs root"):
        process_user({"run_as_user": {"value": 5}})
    assert process_user({"run_as_user": {"value": 1000}}) is None


def test_root_becomes_the_user_with_all_groups_of_the_security_context(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    security = {"run_as_user": {"value": 70000}, "supplemental_groups": [5, 6]}

    assert process_user(security) == ProcessUser(70000, 0, (5, 6))
    assert process_user({}) is None
    assert process_user({"run_as_user": {"value": 0}}) is None
