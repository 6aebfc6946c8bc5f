"""Amazon as moto plays it: a VPC with two public subnets, tagged as a cluster's, and machines when asked for."""

from __future__ import annotations

from functools import cache

import boto3
import pytest
from hyperkube_cloud.aws.calls import Calls
from hyperkube_cloud.aws.config import AwsConfig
from hyperkube_testing.beside import module_beside

amazon, wire = module_beside(__file__, "amazon"), module_beside(__file__, "wire")


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


@pytest.fixture
def double(cloud, monkeypatch):
    """Return what stands between the provider and that Amazon.

    All instances of the plugin share the SDK's clients: making those costs more than all calls of a test.
    """
    made = wire.Wire(cloud)
    made.register()
    shared = cache(Calls(AwsConfig(zone="us-east-1a"))._make)
    monkeypatch.setattr(Calls, "_client", lambda _self, name: shared(name))
    yield made
    made.unregister()
