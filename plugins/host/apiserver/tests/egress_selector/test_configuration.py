"""The file of --egress-selector-config-file: what it may say, and what is refused.

The cases are those of kubernetes apiserver ``egressselector/config_test.go``.
"""

import pytest
from hyperkube_host.apiserver.egress_selector.configuration import Proxy, Selection, read_selections, validate

from hyperkube.machinery.errors import UsageError


def selection(name="cluster", protocol="HTTPConnect", **transport):
    connection = {"proxyProtocol": protocol}
    if transport:
        connection["transport"] = {key: value for key, value in transport.items() if value is not None}
    return {"name": name, "connection": connection}


HTTP, UDS = {"url": "http://127.0.0.1:8131"}, {"udsName": "/run/konnectivity.sock"}
FILES = {"caBundle": __file__, "clientCert": __file__, "clientKey": __file__}


def https(**files):
    return {"url": "https://127.0.0.1:8131", "tlsConfig": {**FILES, **files}}


@pytest.mark.parametrize(
    ("selections", "expected"),
    [
        ([selection("controlplane", "Direct")], None),
        (
            [selection("controlplane", "Direct", none=None)],
            'connection.transport: Invalid value: "direct": Transport config should be absent for direct connect',
        ),
        ([selection(tcp=HTTP)], None),
        ([selection(tcp=https())], None),
        ([selection(tcp=https(caBundle=""))], None),
        (
            [selection(tcp={"url": "https://127.0.0.1:8131"})],
            "service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS",
        ),
        (
            [selection(tcp={**HTTP, "tlsConfig": FILES})],
            'service.connection.tlsConfig: Invalid value: "nil": TLSConfig config should not be present when using HTTP',
        ),
        (
            [selection(tcp=https(clientCert=""))],
            'service.connection.tlsConfig.clientCert: Invalid value: "nil": Using TLS requires clientCert',
        ),
        (
            [selection(tcp=https(clientKey="/no/such"))],
            'service.connection.tlsConfig.clientKey: Invalid value: "/no/such": TLS client key does not exist',
        ),
        (
            [selection(tcp=https(caBundle="/no/such"))],
            'service.connection.tlsConfig.caBundle: Invalid value: "/no/such": TLS config ca bundle does not exist',
        ),
        (
            [selection(tcp={"url": "ftp://x"})],
            'service.connection.url: Invalid value: "ftp://x": supported connection protocols are http:// and https://',
        ),
        ([selection(tcp=HTTP, uds=UDS)], "TCP and UDS cannot both be set"),
        ([selection(none=None)], "service.connection.tcp: Required value: One of TCP or UDS must be set"),
        ([selection()], "service.connection.transport: Required value: transport must be set for HTTPConnect"),
        ([selection(uds=UDS)], None),
        (
            [selection(uds={"udsName": ""})],
            'service.connection.udsName: Invalid value: "nil": UDSName should be present for UDS connections',
        ),
        ([selection(protocol="GRPC", tcp=HTTP)], "service.connection.uds: Required value: UDS must be set with GRPC"),
        ([selection(protocol="GRPC", uds=UDS)], None),
        (
            [selection(protocol="HTTPConnected", uds=UDS)],
            'protocol: Unsupported value: "HTTPConnected": supported values: "Direct", "HTTPConnect", "GRPC"',
        ),
        (
            [selection("invalid", "Direct")],
            'service.connection: Unsupported value: "invalid": supported values: "cluster", "controlplane", "etcd"',
        ),
        (
            [selection("controlplane", "Direct"), selection("ControlPlane", "Direct")],
            'service.connection[1]: Duplicate value: "controlplane"',
        ),
    ],
)
def test_a_selection_is_checked(selections, expected):
    errors = [str(error) for error in validate(selections)]

    if expected is None:
        assert errors == []
    else:
        assert len(errors) == 1
        assert expected in errors[0]


FILE = """
apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport:
      tcp:
        url: https://127.0.0.1:8131
        tlsConfig: {{caBundle: {file}, clientKey: {file}, clientCert: {file}}}
- name: {name}
  connection:
    proxyProtocol: HTTPConnect
    transport: {{uds: {{udsName: /run/proxy.sock}}}}
- name: etcd
  connection: {{proxyProtocol: Direct}}
"""


@pytest.mark.parametrize("name", ["controlplane", "master"])
def test_a_file_is_read(tmp_path, name):
    file = tmp_path / "egress.yaml"
    file.write_text(FILE.format(file=file, name=name))

    proxy = Proxy(url="https://127.0.0.1:8131", ca_bundle=str(file), client_cert=str(file), client_key=str(file))
    assert read_selections(str(file)) == [
        Selection("cluster", "HTTPConnect", proxy),
        Selection("controlplane", "HTTPConnect", Proxy(socket="/run/proxy.sock")),
        Selection("etcd", "Direct", None),
    ]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", 'invalid service configuration object ""'),
        ("apiVersion: apps/v1\nkind: DaemonSet\n", 'invalid service configuration object "DaemonSet"'),
        (None, 'unable to read egress selector configuration from "{path}" [open {path}: no such file or directory]'),
        (
            "kind: EgressSelectorConfiguration\negressSelections: [{name: x, connection: {proxyProtocol: Direct}}]",
            "failed to validate egress selector configuration: service.connection: Unsupported value",
        ),
    ],
    ids=["empty", "another kind", "absent", "wrong"],
)
def test_a_file_that_is_none_is_the_users_mistake(tmp_path, content, text):
    file = tmp_path / "egress.yaml"
    if content is not None:
        file.write_text(content)

    with pytest.raises(UsageError) as refused:
        read_selections(str(file))

    assert text.format(path=file) in str(refused.value)
