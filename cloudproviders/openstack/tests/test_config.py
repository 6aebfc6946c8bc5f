"""The file of ``--cloud-config`` as Kubernetes' provider reads it, and who is asked for tokens as whom."""

from __future__ import annotations

import json

import pytest
from hyperkube_cloud.openstack.config import Access, read_config, seconds
from hyperkube_cloud.openstack.keystone import Keystone, credentials_of
from hyperkube_testing.rest_cloud import JsonHandler, serving

from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.machinery.errors import UsageError

FULL = """
[Global]
auth-url = https://keystone.example:5000/v3
username = occm
password = "secret-of-the-test"
tenant-name = shop
domain-name = Default
region = RegionOne
[LoadBalancer]
use-octavia = true
floating-network-id = outer
create-monitor = yes
monitor-delay = 1m
[LoadBalancerClass "dmz"]
subnet-id = s-9
[Networking]
internal-network-name = inner
internal-network-name = other
[Route]
router-id = r-1
"""


def written(tmp_path, text):
    path = tmp_path / "cloud.conf"
    path.write_text(text)
    return str(path)


def test_it_is_read(tmp_path):
    config = read_config(written(tmp_path, FULL))

    assert (config.access.region, config.router.router_id) == ("RegionOne", "r-1")
    assert (config.balancers.create_monitor, seconds(config.balancers.monitor_delay)) == (True, 60)
    assert config.classes["dmz"].subnet_id == "s-9"
    assert config.networking.internal_network_name == ("inner", "other")
    assert "secret" not in repr(config)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[Global]\nauth-ulr = x\n", "unknown key 'auth-ulr'"),
        ("[Globl]\n", r"unknown section \[globl\]"),
        ("[LoadBalancer]\nmonitor-delay = soon\n", "'soon' is no time such as 5s"),
        ("[LoadBalancer]\nmanage-security-groups = true\n", "manage-security-groups is not built"),
        ("[Metadata]\nsearch-order = elsewhere\n", 'invalid element "elsewhere" found in section'),
        ("[Metadata]\nsearch-order = a,b,c\n", "Value cannot contain more than 2 elements"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_file(tmp_path, text, message):
    with pytest.raises(UsageError, match=f"--cloud-config=.*cloud.conf.*{message}"):
        read_config(written(tmp_path, text))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"username": "u", "password": "p", "tenant_id": "t", "domain_name": "d"},
            {"username": "u", "password": "p", "project_id": "t", "user_domain_name": "d", "project_domain_name": "d"},
        ),
        (
            {"application_credential_id": "i", "application_credential_secret": "s", "username": "u"},
            {"application_credential_id": "i", "application_credential_secret": "s"},
        ),
        (
            {"username": "u", "password": "p", "trust_id": "t", "tenant_id": "x", "user_domain_id": "d"},
            {"username": "u", "password": "p", "trust_id": "t", "user_domain_id": "d"},
        ),
    ],
)
def test_who_asks_is_a_user_an_application_or_a_trustee(given, told):
    assert credentials_of(Access(**given)) == told


class Identity(JsonHandler):
    """Keystone: gives a token and a catalog to one password."""

    def reply(self, body):
        known = json.loads(body)["auth"]["identity"]["password"]["user"]["password"] == "right"
        self.server.count += 1
        endpoint = {
            "interface": "public",
            "region": "RegionOne",
            "region_id": "RegionOne",
            "url": "https://nova.example/v2.1/",
        }
        catalog = [{"type": "compute", "name": "nova", "endpoints": [endpoint]}]
        told = {"expires_at": "2099-01-01T00:00:00.000000Z", "issued_at": "2020-01-01T00:00:00.000000Z", "methods": ["password"],
                "catalog": catalog, "user": {"id": "u", "name": "u", "domain": {"id": "d", "name": "d"}}}  # fmt: skip
        content = {"token": told} if known else {"error": {"code": 401, "message": "no"}}
        self.say(201 if known else 401, content, X_Subject_Token=f"token-{self.server.count}")


@pytest.fixture
def identity():
    with serving(Identity) as server:
        server.count = 0
        yield f"http://127.0.0.1:{server.server_address[1]}/v3"


def test_keystone_gives_a_token_that_is_kept_until_it_is_refused_and_says_where_services_are(identity):
    access = Access(auth_url=identity, username="u", password="right", domain_id="d", tenant_id="t", region="RegionOne")
    keystone = Keystone(access)

    first = keystone.headers(False)

    assert keystone.headers(False) == first == {"X-Auth-Token": "token-1"}
    assert keystone.headers(True) == {"X-Auth-Token": "token-2"}
    assert keystone.endpoint("compute") == "https://nova.example/v2.1"
    with pytest.raises(CloudUnavailable, match="does not tell service 'load-balancer': EndpointNotFound"):
        keystone.endpoint("load-balancer")


def test_a_keystone_that_refuses_is_told_without_a_secret(identity):
    access = Access(auth_url=identity, username="u", password="secret-of-the-test", domain_id="d", tenant_id="t")

    with pytest.raises(CloudUnavailable, match="Keystone does not tell a token: Unauthorized") as raised:
        Keystone(access).headers(False)

    assert "secret" not in str(raised.value)
