"""What the kubelet is given for Azure's registries."""

from urllib.parse import parse_qs

import pytest
from hyperkube_cloud.azure.acr import USER, credentials
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_testing.rest_cloud import answer

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable

MACHINE = AzureConfig(tenant_id="tenant", use_managed_identity_extension=True)


def registry(realm="https://shop.azurecr.io/oauth2/token", status=200, told=None):
    """Return a registry that exchanges tokens, and what it was sent."""
    sent = []

    def send(request):
        sent.append(request)
        if request.url.endswith("/v2/"):
            return answer(401, {}, www_authenticate=f'Bearer realm="{realm}",service="shop.azurecr.io"')
        return answer(status, told if told is not None else {"refresh_token": "own"})

    return send, sent


def test_the_machines_token_is_exchanged_for_the_registrys():
    send, sent = registry()

    found = credentials("shop.azurecr.io/web:1", MACHINE, send, lambda _config: "azure-token")

    assert found.by_registry == {"shop.azurecr.io": (USER, "own")}
    assert sent[1].url == "https://shop.azurecr.io/oauth2/exchange"
    assert parse_qs(sent[1].body.decode()) == {
        "grant_type": ["access_token"], "service": ["shop.azurecr.io"], "tenant": ["tenant"], "access_token": ["azure-token"]
    }  # fmt: skip


def test_an_applications_secret_is_a_login_as_it_is():
    config = AzureConfig(aad_client_id="app", aad_client_secret="secret-of-the-test")

    found = credentials("shop.azurecr.io/web:1", config, registry()[0], None)

    assert found.by_registry == {"shop.azurecr.io": ("app", "secret-of-the-test")}
    assert "secret" not in repr(found)


@pytest.mark.parametrize("image", ["docker.io/web", "shop.azurecr.io.example/web", "a.b.azurecr.io/web"])
def test_an_image_of_another_registry_gets_nothing(image):
    assert credentials(image, MACHINE, registry()[0], None).by_registry == {}


def test_a_token_is_sent_to_the_registry_alone():
    send, sent = registry(realm="https://elsewhere.example/oauth2/token")

    with pytest.raises(CloudFailed, match="wants tokens to be sent elsewhere"):
        credentials("shop.azurecr.io/web:1", MACHINE, send, lambda _config: "azure-token")
    assert all(not request.body for request in sent)


@pytest.mark.parametrize(("status", "told"), [(403, {}), (200, {"token": "x"}), (200, b"secret-of-the-test")])
def test_a_registry_that_gives_no_token_is_told_without_what_it_said(status, told):
    with pytest.raises(CloudUnavailable) as raised:
        credentials(
            "shop.azurecr.io/web", MACHINE, registry(status=status, told=told)[0], lambda _config: "azure-token"
        )
    assert "token-of" not in str(raised.value)
    assert "secret" not in str(raised.value)
