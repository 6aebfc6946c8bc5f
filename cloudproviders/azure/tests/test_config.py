"""The file of ``--cloud-config`` as Kubernetes' provider reads it, and the credentials that it asks for."""

import json

import pytest
from hyperkube_cloud.azure.config import AzureConfig, read_config
from hyperkube_cloud.azure.credentials import Tokens, credential_of

from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.machinery.errors import UsageError

MANY = "multipleStandardLoadBalancerConfigurations"
TWO = [{"name": "a", "primaryVMSet": "p"}, {"name": "b", "primaryVMSet": "q"}]
BY_ADDRESS = {"loadBalancerBackendPoolConfigurationType": "nodeIP"}
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


def test_several_balancers_say_which_services_and_nodes_they_are_for(tmp_path):
    labels = {"matchLabels": {"team": "shop"}}
    told = {**TWO[0], "allowServicePlacement": False, "serviceLabelSelector": labels, "nodeSelector": {}}

    config = read_config(written(tmp_path, {MANY: [told, TWO[1]], **BY_ADDRESS}))

    one, two = config.multiple_standard_load_balancer_configurations
    assert (one.name, one.primary_vm_set, one.allow_service_placement) == ("a", "p", False)
    assert one.services.matches({"team": "shop"})
    assert not one.services.matches({})
    assert one.nodes is one.namespaces is two.services is None  # a selector of nothing prefers none
    assert two.allow_service_placement


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
        ({"enableMultipleStandardLoadBalancers": True}, "is replaced by multipleStandardLoadBalancerConfigurations"),
        ({MANY: [{"name": "a", "primaryVMSet": "p"}]}, "cannot be used with backend pool type nodeIPConfiguration"),
        ({MANY: {"name": "a"}, **BY_ADDRESS}, f"{MANY}: dict is no list"),
        ({MANY: ["a"], **BY_ADDRESS}, f"{MANY}: str is no object"),
        ({MANY: [{"name": "a", "primary": "p"}], **BY_ADDRESS}, f"{MANY}: unknown key 'primary'"),
        ({MANY: [{"primaryVMSet": "p"}], **BY_ADDRESS}, "a balancer has no name"),
        ({MANY: [{"name": "a"}], **BY_ADDRESS}, "configuration a must have primary VMSet"),
        ({MANY: [TWO[0], {**TWO[1], "name": "A"}], **BY_ADDRESS}, "duplicated .* configuration name A"),
        ({MANY: [TWO[0], {**TWO[1], "primaryVMSet": "P"}], **BY_ADDRESS}, "duplicated primary VMSet P .* b"),
        ({MANY: [{**TWO[0], "allowServicePlacement": "no"}], **BY_ADDRESS}, "'no' is neither true nor false"),
        ({MANY: [{**TWO[0], "nodeSelector": ["x"]}], **BY_ADDRESS}, f"{MANY}: nodeSelector: "),
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
