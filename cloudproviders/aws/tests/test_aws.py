"""Amazon keeps what every cloud promises, whatever call fails: what the wire to moto loses, refuses or never gets."""

import pytest
from hyperkube_testing.cloud import service
from hyperkube_testing.rest_cloud import RestCloudContract, answer

from hyperkube.hookspecs.cloud import CloudThrottled, CloudUnavailable

NETWORK = {"service.beta.kubernetes.io/aws-load-balancer-type": "nlb"}


@pytest.mark.slow
class TestContract(RestCloudContract):
    @pytest.fixture
    def built(self, cloud, double):
        self.machine = cloud.machine()
        return cloud.built()

    def missing_disk(self):
        return "aws://us-east-1a/vol-0123456789abcdef0"

    def shapes(self):
        local = service("local")
        local["spec"] |= {"externalTrafficPolicy": "Local", "healthCheckNodePort": 31234}
        network = service("network")
        network["metadata"]["annotations"] = NETWORK
        return [local, network]

    def test_a_cloud_that_throttles_or_is_down_says_so(self, built, double):
        from aws_wire import refusal

        node, instances = self.node(), self.instances(built)

        for status, code, kind in [
            (400, "Throttling", CloudThrottled),
            (503, "RequestLimitExceeded", CloudThrottled),
            (503, "Unavailable", CloudUnavailable),
        ]:
            with double.answering(answer(status, refusal(code))), pytest.raises(kind):
                instances.exists(node)
        with (
            double.answering(answer(429, refusal("SlowDown"), retry_after="7")),
            pytest.raises(CloudThrottled) as raised,
        ):
            instances.exists(node)
        assert raised.value.retry_after == 7
