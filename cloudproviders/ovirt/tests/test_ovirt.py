"""oVirt keeps what every cloud with machines promises."""

import pytest
from hyperkube_testing.rest_cloud import RestCloudContract


class TestContract(RestCloudContract):
    @pytest.fixture
    def built(self, double, built):
        self.machine = double.machine()
        return built
