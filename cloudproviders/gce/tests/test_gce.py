"""Google keeps what every cloud promises, whatever call fails."""

import pytest
from hyperkube_testing.cloud import service
from hyperkube_testing.rest_cloud import RestCloudContract

INTERNAL = {"networking.gke.io/load-balancer-type": "Internal"}


class TestContract(RestCloudContract):
    @pytest.fixture
    def built(self, double, built):
        self.machine, self.google = double.machine(), double
        return built

    def ssh_keys(self, instances):
        (lines,) = [row["value"] for row in self.google.metadata["items"] if row["key"] == "sshKeys"]
        return lines.splitlines()

    def shapes(self):
        local = service("local")
        local["spec"] |= {"externalTrafficPolicy": "Local", "healthCheckNodePort": 31234}
        inner = service("inner")
        inner["metadata"]["annotations"] = INTERNAL
        return [service("outer"), local, inner]
