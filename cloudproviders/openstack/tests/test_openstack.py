"""OpenStack keeps what every cloud promises, whatever call fails."""

import pytest
from hyperkube_testing.cloud import service
from hyperkube_testing.rest_cloud import RestCloudContract


class TestContract(RestCloudContract):
    @pytest.fixture
    def built(self, double, built):
        self.machine = double.machine()
        return built

    def shapes(self):
        watched = service("watched")
        watched["metadata"]["annotations"] = {
            "loadbalancer.openstack.org/enable-health-monitor": "true",
            "service.beta.kubernetes.io/openstack-internal-load-balancer": "true",
        }
        return [service("outer"), watched]
