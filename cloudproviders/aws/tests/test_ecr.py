"""What the kubelet is given for Amazon's registries."""

from datetime import UTC, datetime

import pytest
from hyperkube_cloud.aws.ecr import credentials

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable


class Clock:
    """Twelve hours before the tokens that moto gives end."""

    def now(self):
        return datetime(2014, 12, 31, 12, tzinfo=UTC)


def test_a_private_registry_gets_a_login_for_half_of_its_time(cloud):
    registry = "123456789012.dkr.ecr.eu-west-1.amazonaws.com"

    found = credentials(f"{registry}/shop/web:1", Clock())

    assert found.by_registry == {registry: ("AWS", "123456789012-auth-token")}
    assert found.seconds == 6 * 3600
    assert "auth-token" not in repr(found)


@pytest.mark.parametrize("image", ["docker.io/library/web", "123.dkr.ecr.eu-west-1.amazonaws.com/web", "web"])
def test_another_registry_is_refused(image):
    with pytest.raises(CloudFailed, match="is not a valid ECR repository URL"):
        credentials(image, Clock())


def test_without_credentials_the_reason_alone_is_told(monkeypatch):
    class Session:
        def __init__(self, **_words):
            pass

        def client(self, _service):
            from botocore.exceptions import NoCredentialsError

            raise NoCredentialsError

    monkeypatch.setattr("boto3.Session", Session)

    with pytest.raises(CloudUnavailable, match="get_authorization_token: NoCredentialsError"):
        credentials("public.ecr.aws/shop/web", Clock())
