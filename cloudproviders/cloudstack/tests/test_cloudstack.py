"""CloudStack keeps what every cloud promises, whatever call fails, on an isolated network and on a VPC's tier."""

import pytest
from cloudstack_stack import AsWatched
from hyperkube_testing.cloud import service
from hyperkube_testing.rest_cloud import RestCloudContract


class TestContract(RestCloudContract):
    network = "n-1"

    @pytest.fixture
    def built(self, double, built):
        self.machine = double.machine(network=self.network)
        return built

    def balancers(self, built):
        return AsWatched(super().balancers(built), built.context.client)

    def shapes(self):
        restricted = service("restricted")
        restricted["spec"] |= {"loadBalancerIP": "203.0.113.53", "loadBalancerSourceRanges": ["192.0.2.0/24"]}
        return [service("outer"), restricted]


class TestOnATier(TestContract):
    network = "n-2"

    def shapes(self):
        return super().shapes()[1:]
