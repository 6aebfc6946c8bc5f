"""Amazon as moto plays it: a VPC with two public subnets, tagged as a cluster's, and machines when asked for."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import boto3
import pytest

_spec = importlib.util.spec_from_file_location("amazon", Path(__file__).with_name("amazon.py"))
amazon = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(amazon)


@pytest.fixture(scope="session")
def endpoint():
    """Return the address of a server that plays Amazon for all tests."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture(scope="session")
def session():
    """Return the SDK's session for all tests: what it knows of a service takes half a second to read."""
    pytest.importorskip("moto.core.models")  # it takes the place of Amazon in sessions that are made after its import
    return boto3.Session(region_name="us-east-1")


@pytest.fixture
def environment(session, monkeypatch):
    """Let the provider find credentials, in the environment alone."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setattr(boto3, "Session", lambda **_arguments: session)


@pytest.fixture
def cloud(environment, session, tmp_path):
    """Return a fresh Amazon with the cluster's VPC, in this process."""
    with pytest.importorskip("moto").mock_aws():
        yield amazon.Amazon("", session, tmp_path)


@pytest.fixture
def served(environment, endpoint, session, tmp_path):
    """Return the same behind a port."""
    return amazon.Amazon(endpoint, session, tmp_path)
