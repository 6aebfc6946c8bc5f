"""Azure keeps what every cloud promises, whatever call fails: with machines that stand alone, and with a scale set's."""

import pytest
from azure_microsoft import built as built_with
from hyperkube_testing.cloud import service
from hyperkube_testing.rest_cloud import RestCloudContract

WORD = "service.beta.kubernetes.io/azure-load-balancer-configurations"
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


class TestContractOfSeveralBalancers(TestContract):
    @pytest.fixture
    def built(self, double, tmp_path):
        self.machine = double.machine()
        self.machine["status"] = {"addresses": [{"type": "InternalIP", "address": "10.240.0.4"}]}
        told = [{"name": "one", "primaryVMSet": "pool"}, {"name": "two", "primaryVMSet": "second"}]
        words = {"loadBalancerBackendPoolConfigurationType": "nodeIP"}
        return built_with(double, tmp_path, **words, multipleStandardLoadBalancerConfigurations=told)

    def shapes(self):
        """Return the same; the first two are to move."""
        made = super().shapes()
        for each in made[:2]:
            each["metadata"].setdefault("annotations", {})[WORD] = "one"
        return made

    def changed(self, shape):
        """Return a Service with another port, in another balancer if it says in which."""
        found, words = super().changed(shape), shape["metadata"].get("annotations", {})
        moved = {**words, **({WORD: "two"} if WORD in words else {})}
        return {**found, "metadata": {**found["metadata"], "annotations": moved}}
