"""The file of --cloud-config, in either form, and as whom a vCenter is asked."""

import base64

import pytest
from hyperkube_cloud.vsphere.config import VCenterConfig, read_config
from hyperkube_cloud.vsphere.credentials import Credentials

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.kinds.resources import SECRETS
from hyperkube.machinery.errors import UsageError

OLD = """
[Global]
user = "administrator@vsphere.local"
password = "of-the-test"
server = "10.0.0.1"
port = "8443"
insecure-flag = "1"
datacenter = "dc"
datastore = "fast"
working-dir = "kubernetes"
vm-uuid = "4200"
[Disk]
scsicontrollertype = lsiLogic-sas
[Network]
public-network = "VM Network"
"""
SEVERAL = """
[Global]
secret-name = "vsphere"
secret-namespace = "kube-system"
ca-file = /etc/ca.pem
datacenters = "a, b"
soap-roundtrip-count = 3
[VirtualCenter "one"]
[VirtualCenter "two"]
datacenters = c
thumbprint = "AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB"
[Workspace]
server = "one"
datacenter = "a"
folder = "kubernetes"
default-datastore = "fast"
resourcepool-path = "cluster/Resources"
[Labels]
zone = k8s-zone
region = k8s-region
"""
YAML = """
# as cloud-provider-vsphere has it
global:
  port: 443
  insecureFlag: true
  secretName: vsphere
  secretNamespace: kube-system
vcenter:
  tenant-a:
    server: 10.0.0.1
    datacenters: [a, b]
    ip-family: [ipv6, ipv4]
  tenant-b:
    server: fd00::1
    user: me
    password: of-the-test
labels:
  zone: k8s-zone
  region: k8s-region
nodes:
  internalNetworkSubnetCidr: 10.0.0.0/8,192.168.0.0/16
  externalVmNetworkName: Internet
  excludeInternalNetworkSubnetCidr: 10.9.0.0/16
"""


def read(tmp_path, text):
    file = tmp_path / "vsphere.conf"
    file.write_text(text)
    return read_config(str(file))


def test_the_form_of_one_vcenter_says_where_disks_are_made(tmp_path):
    config = read(tmp_path, OLD)

    (one,) = config.vcenters
    assert (one.url, one.insecure_flag, one.datacenters) == ("https://10.0.0.1:8443", True, ("dc",))
    assert (config.workspace.server, config.workspace.datacenter) == ("10.0.0.1", "dc")
    assert (config.workspace.folder, config.workspace.default_datastore) == ("kubernetes", "fast")
    assert (config.public_network, config.controller, config.vm_uuid) == ("VM Network", "lsiLogic-sas", "4200")


def test_several_vcenters_share_what_is_said_for_all(tmp_path):
    config = read(tmp_path, SEVERAL)

    one, two = config.vcenters
    assert (one.url, one.datacenters, one.secret_name, one.ca_file) == (
        "https://one:443",
        ("a", "b"),
        "vsphere",
        "/etc/ca.pem",
    )
    assert (two.datacenters, two.thumbprint, two.secret_namespace) == (("c",), ":".join(["AB"] * 20), "kube-system")
    assert (config.labels.zone, config.labels.region) == ("k8s-zone", "k8s-region")
    assert config.workspace.resourcepool_path == "cluster/Resources"


def test_yaml_says_the_same(tmp_path):
    config = read(tmp_path, YAML)

    one, two = config.vcenters
    assert (one.server, one.datacenters, one.families, one.insecure_flag) == (
        "10.0.0.1",
        ("a", "b"),
        ("ipv6", "ipv4"),
        True,
    )
    assert (two.url, two.user, two.families) == ("https://[fd00::1]:443", "me", ("ipv4",))
    assert config.nodes.internal_network_subnet_cidr == ("10.0.0.0/8", "192.168.0.0/16")
    assert config.nodes.external_vm_network_name == "Internet"
    assert config.workspace.server == ""


def test_no_file_says_nothing():
    assert read_config("").vcenters == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[Global]\nuser = me\n", "names no vCenter"),
        ('[VirtualCenter "a"]\nuser = me\n', "password of vCenter 'a' is missing, and no secret is named"),
        (OLD + "[LoadBalancer]\n", "[loadbalancer] is not supported: balancers and routes of NSX-T"),
        (OLD + "[Storage]\n", "unknown section [storage]"),
        (OLD.replace("lsiLogic-sas", "ide"), "[Disk] scsicontrollertype: 'ide' is none of pvscsi, lsiLogic-sas"),
        (OLD.replace("vm-uuid", "vm-colour"), "[Global] has an unknown key 'vm-colour'"),
        (OLD.replace('insecure-flag = "1"', "insecure-flag = maybe"), "'maybe' is neither true nor false"),
        (SEVERAL.replace("AB:", "A:"), "thumbprint of vCenter 'two' is none of SHA-1 or SHA-256"),
        (SEVERAL.replace('server = "one"', 'server = "three"'), "'three' is none of the vCenters"),
        (YAML.replace("10.9.0.0/16", "10.9.0.0/99"), "10.9.0.0/99"),
        (YAML.replace("ipv6, ipv4", "ipx"), "ip-family: 'ipx' is neither ipv4 nor ipv6"),
        ("- a\n- b\n", "is neither sections nor an object of YAML"),
        ("global: [1]\n", "global: list is no object"),
        ("{", "while parsing"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_file(tmp_path, text, message):
    with pytest.raises(UsageError) as raised:
        read(tmp_path, text)

    assert "--cloud-config=" in str(raised.value)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "of-the-test" not in str(raised.value)


def test_what_is_secret_is_not_shown(tmp_path):
    assert "of-the-test" not in repr(read(tmp_path, OLD))


def secret(**data):
    told = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    return {"metadata": {"name": "vsphere", "namespace": "kube-system"}, "data": told}


CONFIG = VCenterConfig(server="10.0.0.1", secret_name="vsphere", secret_namespace="kube-system")


@pytest.mark.parametrize(
    "data",
    [
        {"10.0.0.1.username": "me", "10.0.0.1.password": "of-the-test\n"},
        {"server_a": "10.0.0.1", "username_a": "me", "password_a": "of-the-test"},
    ],
    ids=["by server", "by a word of its own, for IPv6"],
)
def test_a_secret_is_read_again_at_each_login(data):
    client = FakeClient()
    client.seed(SECRETS, secret(**data))
    credentials = Credentials(CONFIG, client)

    assert credentials.read() == ("me", "of-the-test")
    newer = {key: value.replace("of-the-test", "newer") for key, value in data.items()}
    client.update(SECRETS, {**secret(**newer), "kind": "Secret", "apiVersion": "v1"}, "kube-system")
    assert credentials.read() == ("me", "newer")


def test_a_folder_may_stand_for_a_secret(tmp_path):
    (tmp_path / "10.0.0.1.username").write_text("me\n")
    (tmp_path / "10.0.0.1.password").write_text("of-the-test\n")

    found = Credentials(VCenterConfig(server="10.0.0.1", secrets_directory=str(tmp_path)), None).read()

    assert found == ("me", "of-the-test")


@pytest.mark.parametrize(
    ("config", "client", "message"),
    [
        (CONFIG, None, "stand in Secret kube-system/vsphere, and there is no API to ask"),
        (CONFIG, FakeClient(), "stand in Secret kube-system/vsphere: "),
        (
            VCenterConfig(server="a", secrets_directory="/none/such"),
            None,
            "stand in /none/such: No such file or directory",
        ),
    ],
    ids=["no API", "no Secret", "no folder"],
)
def test_credentials_that_are_not_there_are_told(config, client, message):
    with pytest.raises(CloudUnavailable, match=message):
        Credentials(config, client).read()


def test_a_secret_without_this_server_is_told_without_its_content():
    client = FakeClient()
    client.seed(SECRETS, secret(**{"other.username": "me", "other.password": "of-the-test"}))

    with pytest.raises(CloudUnavailable, match=r"has no user and password of vCenter '10.0.0.1'") as raised:
        Credentials(CONFIG, client).read()

    assert "of-the-test" not in str(raised.value)
