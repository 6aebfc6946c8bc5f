"""The file of ``--cloud-config`` as Kubernetes' provider reads it."""

import pytest
from hyperkube_cloud.aws.config import AwsConfig, read_config

from hyperkube.machinery.errors import UsageError

FULL = """
[Global]
Zone = eu-west-3b
VPC = vpc-1
KubernetesClusterTag = shop
DisableSecurityGroupIngress = true
DisableStrictZoneCheck = true
[ServiceOverride "1"]
Service = ec2
Region = eu-west-3
URL = "https://ec2.inside.example"
SigningRegion = eu-west-3
"""


def written(tmp_path, text):
    path = tmp_path / "cloud.ini"
    path.write_text(text)
    return str(path)


def test_it_is_read(tmp_path):
    config = read_config(written(tmp_path, FULL))

    assert (config.region, config.vpc, config.cluster_id) == ("eu-west-3", "vpc-1", "shop")
    assert config.disable_security_group_ingress
    assert config.overrides["ec2"].url == "https://ec2.inside.example"


def test_no_file_says_nothing():
    assert read_config("") == AwsConfig()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[Global]\nZoen = x\n", "unknown key 'zoen'"),
        ("[Globl]\n", r"unknown section \[Globl\]"),
        ('[ServiceOverride "1"]\nService = ec2\n', "needs service and url"),
        ("Zone = x\n", "no section headers"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_file(tmp_path, text, message):
    with pytest.raises(UsageError, match=f"--cloud-config=.*cloud.ini.*{message}"):
        read_config(written(tmp_path, text))
