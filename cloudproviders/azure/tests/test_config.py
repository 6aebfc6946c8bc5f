"""The file of ``--cloud-config`` as Kubernetes' provider reads it, and the credentials that it asks for."""

import json

import pytest
from hyperkube_cloud.azure.config import AzureConfig, read_config
from hyperkube_cloud.azure.credentials import Tokens, credential_of

from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.machinery.errors import UsageError

FULL = {
    "cloud": "AzurePublicCloud", "tenantId": "tenant", "subscriptionId": "sub", "aadClientId": "app",
    "aadClientSecret": "secret-of-the-test", "resourceGroup": "shop", "location": "westeurope", "vnetName": "net",
    "subnetName": "nodes", "securityGroupName": "nsg", "routeTableName": "routes", "primaryScaleSetName": "pool",
    "vmType": "vmss", "loadBalancerSku": "Standard", "excludeMasterFromStandardLB": "false", "useInstanceMetadata": True,
    "cloudProviderBackoffRetries": 6, "vmssCacheTTLInSeconds": 60, "maximumLoadBalancerRuleCount": 250,
}  # fmt: skip


def written(tmp_path, told):
    path = tmp_path / "azure.json"
    path.write_text(told if isinstance(told, str) else json.dumps(told))
    return str(path)


def test_it_is_read_as_json_and_as_yaml(tmp_path):
    config = read_config(written(tmp_path, FULL))
    same = read_config(written(tmp_path, "\n".join(f"{key}: {json.dumps(value)}" for key, value in FULL.items())))

    assert config == same
    assert (config.subscription_id, config.vnet_name, config.route_table_name) == ("sub", "net", "routes")
    assert config.exclude_master_from_standard_lb is False
    assert config.endpoint == "https://management.azure.com"
    assert "secret" not in repr(config)


@pytest.mark.parametrize(("kind", "lists"), [("nodeIP", True), ("nodeIPConfiguration", False), ("podIP", False)])
def test_pools_list_addresses_or_interfaces_name_them(tmp_path, kind, lists):
    assert read_config(written(tmp_path, {"loadBalancerBackendPoolConfigurationType": kind})).lists_addresses is lists


def test_no_file_says_nothing():
    assert read_config("") == AzureConfig()


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"subscriptionID": "x", "resourceGrup": "y"}, "unknown key 'resourceGrup'"),
        ({"loadBalancerSku": "basic"}, "loadBalancerSku has to be standard"),
        ({"cloud": "AzureMoonCloud"}, "cloud 'AzureMoonCloud' is unknown: give resourceManagerEndpoint"),
        (
            {"loadBalancerBackendPoolConfigurationType": "nodes"},
            "nodes is not supported, supported values are nodeIPConf",
        ),
        ({"enableMultipleStandardLoadBalancers": True}, "one standard load balancer serves the cluster"),
        ({"disableOutboundSNAT": "maybe"}, "'maybe' is neither true nor false"),
        ({"resourceGroup": ["a"]}, "resourceGroup: list is no text"),
        ("[1, 2]", "is no object"),
        ("{", "while parsing"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_file(tmp_path, told, message):
    with pytest.raises(UsageError, match=f"--cloud-config=.*azure.json.*{message}") as raised:
        read_config(written(tmp_path, told))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"aad_client_id": "app", "aad_client_secret": "s"}, "ClientSecretCredential"),
        ({"aad_client_id": "msi", "aad_client_secret": "msi"}, "ManagedIdentityCredential"),
        ({"use_managed_identity_extension": True, "user_assigned_identity_id": "/subscriptions/i"}, "ManagedIdentityCredential"),
        ({"use_federated_workload_identity_extension": True, "aad_client_id": "app"}, "WorkloadIdentityCredential"),
    ],
)  # fmt: skip
def test_who_asks_is_an_application_the_machine_or_a_workload(given, kind, tmp_path):
    token = tmp_path / "token"
    token.write_text("t")

    found = credential_of(AzureConfig(tenant_id="tenant", aad_federated_token_file=str(token), **given))

    assert type(found).__name__ == kind


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"tenant_id": "tenant", "aad_client_id": "app", "aad_client_cert_path": "/none/such/secret-of-the-test.pem"},
    ],
    ids=["none", "a certificate that is not there"],
)
def test_no_token_is_told_without_a_secret(given):
    with pytest.raises(CloudUnavailable, match="no token for Azure's API: ") as raised:
        Tokens(AzureConfig(aad_client_cert_password="secret-of-the-test", **given))(False)

    assert "secret-of-the-test" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_token_is_asked_for_anew_where_it_is_refused(monkeypatch):
    made = []

    class Given:
        token = "t"

    class Credential:
        def __init__(self, *arguments, **words):
            made.append(arguments)

        def get_token(self, scope):
            assert scope == "https://management.azure.com/.default"
            return Given()

    monkeypatch.setattr("azure.identity.ClientSecretCredential", Credential)
    tokens = Tokens(AzureConfig(tenant_id="t", aad_client_id="a", aad_client_secret="s"))

    assert tokens(False) == tokens(False) == {"Authorization": "Bearer t"}
    assert len(made) == 1
    tokens(True)
    assert len(made) == 2
