"""The file of ``--cloud-config`` as Kubernetes' provider reads it, and what a provider can do with it."""

from __future__ import annotations

import pytest
from cloudstack_stack import Stack, provider
from hyperkube_cloud.cloudstack import CloudStack
from hyperkube_cloud.cloudstack.config import read_config

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext

FULL = """
[Global]
api-url = https://cloud.example/client/api
api-key = k
secret-key = "secret-of-the-test"
ssl-no-verify = true
project-id = p-1
zone = zone one
region = north
version = 4.21.0.0
"""


def written(tmp_path, text):
    path = tmp_path / "cloud.conf"
    path.write_text(text)
    return str(path)


def test_it_is_read_and_shows_no_secret(tmp_path):
    config = read_config(written(tmp_path, FULL))

    assert (config.api_url, config.project_id, config.zone, config.region) == (
        "https://cloud.example/client/api", "p-1", "zone one", "north",
    )  # fmt: skip
    assert config.ssl_no_verify
    assert "secret" not in repr(config)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[Global]\napi-ulr = x\n", "unknown key 'api-ulr'"),
        ("[Globl]\n", r"unknown section \[globl\]"),
        ("[Global]\napi-url = https://cloud.example\n", r"\[Global\] has no api-key and no secret-key"),
        ("[Global]\napi-url = cloud\napi-key = k\nsecret-key = s\n", "api-url is no URL such as https://"),
        ("[Global]\nssl-no-verify = perhaps\n", "'perhaps' is neither true nor false"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_file(tmp_path, text, message):
    with pytest.raises(UsageError, match=f"--cloud-config=.*cloud.conf.*{message}"):
        read_config(written(tmp_path, text))


def test_without_credentials_a_kubelet_knows_its_machine_and_there_are_no_balancers(tmp_path):
    context = PluginContext(name="cloudstack", settings={"cloud_config": written(tmp_path, "[Global]\nzone = z one\n")})
    plugin = CloudStack(context)

    cloud = provider(plugin)

    assert cloud.load_balancers is None
    assert cloud.instances.current_zone() == ("z_one", "z_one")
    assert cloud.instances.current_node_name("node-1") == "node-1"
    plugin.close()


def test_tls_is_verified_unless_the_file_says_otherwise(tmp_path):
    plugin = CloudStack(PluginContext(name="cloudstack"))

    (strict, _), (lax, _) = (
        plugin.ways(read_config(written(tmp_path, FULL.replace("ssl-no-verify = true", line))))
        for line in ("", "ssl-no-verify")
    )

    assert strict._connections().connection_pool_kw["cert_reqs"] == "CERT_REQUIRED"
    assert lax._connections().connection_pool_kw["cert_reqs"] == "CERT_NONE"
    plugin.close()


def test_a_double_refuses_what_is_signed_with_another_secret(tmp_path):
    from hyperkube_cloud.cloudstack.api import Api
    from hyperkube_cloud.cloudstack.config import CloudStackConfig

    from hyperkube.machinery.clock import FakeClock

    config = CloudStackConfig(
        api_url="https://cloud.example/client/api", api_key="key-of-the-test", secret_key="another"
    )

    with pytest.raises(AssertionError):
        Api(Stack(), config, FakeClock()).call("listNetworks", listall=True)
