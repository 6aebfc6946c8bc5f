"""A webhook's URL is one that Go reads, too."""

import pytest
from hyperkube_api.meta.webhook_clients import client_config

from hyperkube.machinery.field import Path


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://hook/x\r\nHost: y", "net/url: invalid control character in URL"),
        ("https://hook/\n", "net/url: invalid control character in URL"),
        ("https://ho\tok/", "net/url: invalid control character in URL"),
        ("\nhttps://hook/", "net/url: invalid control character in URL"),
        ("https://hook/\x7f", "net/url: invalid control character in URL"),
        (" https://hook/", "first path segment in URL cannot contain colon"),
        ("https://hook/%zz", 'invalid URL escape "%zz"'),
        ("https://hook/a%2", 'invalid URL escape "%2"'),
        ("https://hook/%0g%", 'invalid URL escape "%0g"'),
        ("https://[::1", "missing ']' in host"),
        ("https://hook:x/", 'invalid port ":x" after host'),
        ("https://ho ok/", 'invalid character " " in host name'),
    ],
)
def test_what_cannot_be_read_is_refused(url, why):
    (error,) = client_config(Path("clientConfig"), {"url": url})

    assert error.reason == "FieldValueRequired"
    assert error.path == Path("clientConfig").child("url")
    assert error.detail.startswith("url must be a valid URL: parse ")
    assert error.detail.endswith(f": {why}; desired format: https://host[/path]")


@pytest.mark.parametrize(
    "url", ["https://hook", "https://hook:443/x", "https://[::1]:8443/x", "https://10.0.0.1/a%20b"]
)
def test_what_can_is_taken(url):
    assert client_config(Path("clientConfig"), {"url": url}) == []
