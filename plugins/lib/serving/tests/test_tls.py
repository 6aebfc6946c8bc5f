"""TLS listeners: who is shown what, who is believed."""

from __future__ import annotations

import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from hyperkube_lib.serving import certificates
from hyperkube_lib.serving.exchange import Response, StreamResponse
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.tls import ServerTls, SniCertificate, TlsFiles, named_certificates, openssl_ciphers

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError


def trusting(ca_file, cert=None):
    context = ssl.create_default_context(cafile=ca_file)
    if cert:
        context.load_cert_chain(*cert)
    return context


def test_a_client_certificate_reaches_the_handler(toy, start, connect, pki):
    edge = start(tls=pki.server_tls())
    cert = pki.issue("admin", organizations=["system:masters"], client=True)
    client = connect(edge, trusting(pki.ca_file, cert))
    client.get("/")
    client.answer()

    leaf = x509.load_der_x509_certificate(toy.seen[0].certificate[0])
    assert leaf.subject.rfc4514_string() == "CN=admin,O=system:masters"
    assert len(set(toy.seen[0].certificate)) == len(toy.seen[0].certificate)
    assert toy.seen[0].secure


def test_a_client_needs_no_certificate(toy, start, connect, pki):
    edge = start(tls=pki.server_tls())
    client = connect(edge, trusting(pki.ca_file))
    client.get("/")

    assert client.answer()[0] == 200
    assert toy.seen[0].certificate == ()


def test_the_handshake_goes_on_with_a_certificate_of_another_authority(toy, start, connect, pki, tmp_path):
    edge = start(tls=pki.server_tls())
    stranger = certificates.issue(certificates.make_ca("other"), "evil", client=True)
    stranger.write(tmp_path / "evil.crt", tmp_path / "evil.key")

    client = connect(edge, trusting(pki.ca_file, (tmp_path / "evil.crt", tmp_path / "evil.key")))
    client.get("/")

    assert client.answer()[0] == 200
    leaf = x509.load_der_x509_certificate(toy.seen[0].certificate[0])
    assert leaf.subject.rfc4514_string() == "CN=evil"


def test_where_openssl_cannot_be_reached_unknown_certificates_end_the_handshake(
    start, connect, pki, tmp_path, monkeypatch
):
    monkeypatch.setattr("hyperkube_lib.serving.requested_certificates._library", lambda: None)
    edge = start(tls=pki.server_tls())
    stranger = certificates.issue(certificates.make_ca("other"), "evil", client=True)
    stranger.write(tmp_path / "evil.crt", tmp_path / "evil.key")
    context = trusting(pki.ca_file, (tmp_path / "evil.crt", tmp_path / "evil.key"))

    def ask():
        client = connect(edge, context)
        client.get("/")
        return client.answer()

    with pytest.raises((ssl.SSLError, ConnectionError, EOFError)):
        ask()


def test_without_a_client_ca_no_certificate_is_asked_for(toy, start, connect, pki):
    cert, key = pki.issue("server", dns=["localhost"], server=True)
    edge = start(tls=TlsFiles(cert_file=cert, key_file=key))
    client = connect(edge, trusting(pki.ca_file, pki.issue("admin", client=True)))
    client.get("/")
    client.answer()

    assert toy.seen[0].certificate == ()


def test_front_proxies_have_an_authority_of_their_own(toy, start, connect, pki, tmp_path):
    proxies = certificates.make_ca("front-proxy")
    certificates.write_public(tmp_path / "front.crt", proxies.certificate)
    certificates.issue(proxies, "aggregator", client=True).write(tmp_path / "a.crt", tmp_path / "a.key")
    edge = start(tls=pki.server_tls(request_header_ca_file=str(tmp_path / "front.crt")))
    client = connect(edge, trusting(pki.ca_file, (tmp_path / "a.crt", tmp_path / "a.key")))
    client.get("/")
    client.answer()

    assert toy.seen[0].certificate


@pytest.mark.parametrize(
    ("name", "shown"), [("sni.example.org", "extra"), ("other.org", "server"), ("a.b.org", "extra")]
)
def test_the_name_asked_for_chooses_the_certificate(start, pki, name, shown):
    cert, key = pki.issue("extra", dns=["sni.example.org"], server=True)
    extra = SniCertificate(cert_file=cert, key_file=key, names=("sni.example.org", "*.b.org"))
    edge = start(tls=pki.server_tls(sni=(extra,)))

    context = ssl.create_default_context(cafile=pki.ca_file)
    context.check_hostname = False
    with (
        socket.create_connection(("127.0.0.1", edge.port), timeout=60) as plain,
        context.wrap_socket(plain, server_hostname=name) as secure,
    ):
        certificate = x509.load_der_x509_certificate(secure.getpeercert(True))
    assert certificate.subject.rfc4514_string() == f"CN={shown}"


def test_certificates_are_named_by_the_flag_or_by_themselves(pki):
    cert, key = pki.issue("extra", dns=["sni.example.org", "*.b.org"], server=True)

    by_flag, by_itself = named_certificates([f"{cert},{key}", f"{cert},{key}:a.org, *.a.org"])

    assert by_flag == SniCertificate(cert_file=cert, key_file=key, names=("a.org", "*.a.org"))
    assert by_itself.names == ("extra", "sni.example.org", "*.b.org")


@pytest.mark.parametrize("value", ["only.crt", ",x.key", "a.crt,a.key,more"])
def test_half_a_pair_is_refused(value):
    with pytest.raises(UsageError, match="is not cert,key or cert,key:names"):
        named_certificates([value])


def test_a_pair_whose_certificate_is_missing_is_refused(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        named_certificates([f"{tmp_path}/a.crt,{tmp_path}/a.key"])


def test_cipher_suites_have_openssl_names():
    names = [
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "TLS_AES_128_GCM_SHA256",
    ]

    assert openssl_ciphers(names[:2]) == "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305"
    assert openssl_ciphers(names[2:]) == ""
    assert openssl_ciphers([]) == ""


def test_an_unknown_cipher_suite_is_refused():
    with pytest.raises(UsageError, match="Cipher suite TLS_MAGIC not supported or doesn't exist"):
        openssl_ciphers(["TLS_MAGIC"])


def test_only_the_named_cipher_suite_is_spoken(start, pki):
    edge = start(tls=pki.server_tls(ciphers=openssl_ciphers(["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"])))
    context = ssl.create_default_context(cafile=pki.ca_file)
    context.check_hostname = False
    context.maximum_version = ssl.TLSVersion.TLSv1_2

    with (
        socket.create_connection(("127.0.0.1", edge.port), timeout=60) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as secure,
    ):
        assert secure.cipher()[0] == "ECDHE-ECDSA-AES256-GCM-SHA384"


def test_new_files_are_taken_up(pki, tmp_path):
    tls = ServerTls(pki.server_tls())
    assert not tls.reload()
    pki.server_tls()

    assert tls.reload()
    assert not tls.reload()


def test_broken_files_leave_the_old_ones_in_use(pki):
    files = pki.server_tls()
    tls = ServerTls(files)
    Path(files.cert_file).write_text("nonsense")

    with pytest.raises(UsageError, match="cannot use the TLS files"):
        tls.reload()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cert_file": "/nowhere.crt"}, "cannot read '/nowhere.crt'"),
        ({"min_version": "TLS9"}, "unknown TLS version 'TLS9'"),
    ],
)
def test_unusable_files_are_one_line(pki, options, message):
    cert, key = pki.issue("server", server=True)

    with pytest.raises(UsageError, match=message):
        ServerTls(TlsFiles(**{"cert_file": cert, "key_file": key, **options}))


def test_an_old_client_is_turned_away(start, connect, pki):
    edge = start(tls=pki.server_tls(min_version="VersionTLS13"))
    context = trusting(pki.ca_file)
    context.maximum_version = ssl.TLSVersion.TLSv1_2

    with pytest.raises(ssl.SSLError):
        connect(edge, context)


def test_streams_and_pipelines_work_over_tls(toy, start, connect, pki, source):
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    edge = start(tls=pki.server_tls())
    client = connect(edge, trusting(pki.ca_file))
    client.get("/one")
    client.get("/watch")

    assert client.answer()[2] == b"echo "
    client.head()
    source.put(b"x" * 300_000)
    size = 0
    while size < 300_000:
        size += len(client.chunk())
    assert size == 300_000


def test_a_closing_server_waits_for_no_client_that_keeps_its_socket_open(start, connect, pki):
    edge = start(tls=pki.server_tls())
    client = connect(edge, trusting(pki.ca_file))
    client.get("/")
    client.answer()

    closing = threading.Thread(target=edge.close, args=(60.0,), daemon=True)
    closing.start()
    closing.join(20)  # nothing is read meanwhile, so that its close_notify is not answered

    assert not closing.is_alive()
    assert edge.connections == 0
    assert client.rest() == b""


def test_a_closing_server_sends_the_last_answer_to_a_client_that_is_behind(toy, start, connect, pki):
    body = b"x" * 20_000_000
    toy.routes["/large"] = lambda _: Response(body=body)
    edge = start(tls=pki.server_tls())
    client = connect(edge, trusting(pki.ca_file))
    client.get("/large")
    client.head()

    closing = threading.Thread(target=edge.close, args=(60.0,), daemon=True)
    closing.start()
    closing.join(0.3)
    was_waiting = closing.is_alive()
    pieces = [client.buffer, *iter(lambda: client.sock.recv(1 << 20), b"")]
    closing.join(20)

    assert was_waiting
    assert b"".join(pieces) == body
    assert not closing.is_alive()


def test_keys_are_private_and_certificates_public(pki):
    cert, key = pki.issue("someone", client=True)
    assert Path(key).stat().st_mode & 0o777 == 0o600
    assert Path(cert).stat().st_mode & 0o777 == 0o644


def test_certificates_say_what_they_are_for(pki):
    cert, _ = pki.issue("node", organizations=["system:nodes"], dns=["n1"], ips=["10.0.0.1"], server=True, client=True)
    leaf = x509.load_pem_x509_certificate(Path(cert).read_bytes())

    uses = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {use._name for use in uses} == {"serverAuth", "clientAuth"}
    assert names.get_values_for_type(x509.DNSName) == ["n1"]
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == ["10.0.0.1"]


def test_a_self_signed_certificate_is_made_once_and_again_when_it_ends(tmp_path):
    clock = FakeClock(datetime.now(UTC))
    cert, key = tmp_path / "pki" / "apiserver.crt", tmp_path / "pki" / "apiserver.key"

    assert certificates.ensure_self_signed(cert, key, "apiserver", dns=["localhost"], clock=clock)
    assert not certificates.ensure_self_signed(cert, key, "apiserver", dns=["localhost"], clock=clock)
    clock.advance(timedelta(days=366).total_seconds())
    assert certificates.ensure_self_signed(cert, key, "apiserver", dns=["localhost"], clock=clock)


def test_a_self_signed_file_can_be_trusted_as_it_is(start, connect, tmp_path):
    cert, key = tmp_path / "a.crt", tmp_path / "a.key"
    certificates.ensure_self_signed(cert, key, "apiserver", dns=["localhost"], ips=["127.0.0.1"])
    edge = start(tls=TlsFiles(cert_file=str(cert), key_file=str(key)))
    client = connect(edge, trusting(str(cert)))
    client.get("/")

    assert client.answer()[0] == 200


def test_a_pair_can_be_read_back(pki):
    cert, key = pki.issue("someone", client=True)

    assert certificates.expires(certificates.KeyPair.read(cert, key).certificate) > datetime.now(UTC)
    with pytest.raises(UsageError, match="cannot read"):
        certificates.KeyPair.read(cert, key + ".not")
    with pytest.raises(UsageError, match="not a PEM certificate"):
        certificates.expires(b"x")


def test_a_handshake_has_the_time_of_a_head(start, pki):
    edge = start(tls=pki.server_tls(), limits=EdgeLimits(head_timeout=0.2))

    with socket.create_connection(("127.0.0.1", edge.port), timeout=9.0) as silent:
        assert silent.recv(1) == b""
