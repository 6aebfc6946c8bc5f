"""vSphere keeps what every cloud promises, whatever call fails."""

import pytest
from hyperkube_testing.rest_cloud import RestCloudContract

from hyperkube.hookspecs.cloud import DiskRequest

GIB = 2**30


class TestContract(RestCloudContract):
    @pytest.fixture
    def built(self, double, built):
        self.machine = double.machine(double.hosts[0][0])
        return built

    def missing_disk(self):
        return "[fast] kubevols/missing.vmdk"


class TestContractOfPolicies(TestContract):
    """Disks of a storage policy, which take more calls to make."""

    def request(self, name="pvc-1", size=GIB):
        return DiskRequest(name=name, size=size, parameters={"storagepolicyname": "gold"})

    @pytest.fixture
    def built(self, double, built):
        double.policies = {"gold": {"datastore-fast", "datastore-zone-0"}}
        self.machine = double.machine(double.hosts[0][0])
        return built

    def late_steps(self):
        return [self._create]  # the others are as of any disk

    def missing_disk(self):
        return "[zone-0] kubevols/missing.vmdk"
