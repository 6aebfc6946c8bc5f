"""Azure keeps what every cloud promises, whatever call fails: with machines that stand alone, and with a scale set's."""

import pytest
from azure_microsoft import built as built_with
from hyperkube_testing.cloud import service
from hyperkube_testing.rest_cloud import RestCloudContract

INTERNAL = {"service.beta.kubernetes.io/azure-load-balancer-internal": "true"}


class TestContract(RestCloudContract):
    @pytest.fixture
    def built(self, double, built):
        self.machine = double.machine()
        return built

    def missing_disk(self):
        return "/subscriptions/sub/resourceGroups/shop/providers/Microsoft.Compute/disks/missing"

    def shapes(self):
        local = service("local")
        local["spec"] |= {"externalTrafficPolicy": "Local", "healthCheckNodePort": 31234}
        inner = service("inner")
        inner["metadata"]["annotations"] = INTERNAL
        linked = service("linked")
        linked["metadata"]["annotations"] = {**INTERNAL, "service.beta.kubernetes.io/azure-pls-create": "true"}
        return [service("outer"), local, inner, linked]


class TestContractOfScaleSets(TestContract):
    @pytest.fixture
    def built(self, double, built):
        self.machine = double.instance()
        return built


class TestContractOfFlexibleSets(TestContract):
    @pytest.fixture
    def built(self, double, built):
        self.machine = double.flexible()
        return built


class TestContractOfAddresses(TestContract):
    @pytest.fixture
    def built(self, double, tmp_path):
        self.machine = double.machine()
        self.machine["status"] = {"addresses": [{"type": "InternalIP", "address": "10.240.0.4"}]}
        return built_with(double, tmp_path, loadBalancerBackendPoolConfigurationType="nodeIP")
