"""Amazon keeps what every cloud promises."""

import pytest
from hyperkube_testing.cloud import CloudContract


class TestContract(CloudContract):
    @pytest.fixture
    def built(self, cloud):
        self.amazon, self._made = cloud, None
        return cloud.built()

    def node(self):
        self._made = self._made or self.amazon.machine()
        return self._made

    def nodes(self):
        return [self.node()]

    def route_target(self):
        return self.node()["metadata"]["name"]

    def missing_disk(self):
        return "aws://us-east-1a/vol-0123456789abcdef0"
