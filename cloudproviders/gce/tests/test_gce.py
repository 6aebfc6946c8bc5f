"""Google keeps what every cloud promises, whatever call fails."""

import pytest
from hyperkube_testing.cloud import service
from hyperkube_testing.rest_cloud import RestCloudContract

INTERNAL = {"networking.gke.io/load-balancer-type": "Internal"}


class TestContract(RestCloudContract):
    @pytest.fixture
    def built(self, double, built):
        self.machine = double.machine()
        return built

    def shapes(self):
        local = service("local")
        local["spec"] |= {"externalTrafficPolicy": "Local", "healthCheckNodePort": 31234}
        inner = service("inner")
        inner["metadata"]["annotations"] = INTERNAL
        return [service("outer"), local, inner]
