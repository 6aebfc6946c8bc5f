"""What services, volumes, nodes, secrets and accounts are warned of."""

from base64 import b64encode
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from hyperkube_api.core.endpoints.strategy import EndpointsStrategy
from hyperkube_api.core.ip_warnings import cidr_warnings, ip_warnings
from hyperkube_api.core.nodes.deprecated_labels import label_selector_warnings
from hyperkube_api.core.nodes.warnings import node_warnings
from hyperkube_api.core.persistent_volume_claims.warnings import claim_object_warnings, claim_template_warnings
from hyperkube_api.core.persistent_volumes.warnings import persistent_volume_warnings
from hyperkube_api.core.pod_templates.strategy import PodTemplateStrategy
from hyperkube_api.core.replication_controllers.strategy import ReplicationControllerStrategy
from hyperkube_api.core.secrets.warnings import secret_warnings
from hyperkube_api.core.service_accounts.warnings import service_account_warnings
from hyperkube_api.core.services.warnings import service_warnings

from hyperkube.machinery.field import ROOT

AT = ROOT.child("at")
HINTS = "service.kubernetes.io/topology-aware-hints"
CLASS = "volume.beta.kubernetes.io/storage-class"
OLD_CLASS = f'metadata.annotations[{CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead'
MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"
ALIASES = {"spec": {"hostAliases": [{"ip": "1.1.1.1"}, {"ip": "1.1.1.1"}]}}
DUPLICATE = 'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"'
DOTS = (
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
    "a DNS label is recommended: [must not contain dots]"
)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("10.0.0.1", None),
        ("010.0.0.01", 'non-standard IP address "010.0.0.01" is invalid: use "10.0.0.1"'),
        ("::ffff:1.2.3.4", 'non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"'),
        ("2001:db8::1", None),
        ("2001:DB8::01", 'IPv6 address "2001:DB8::01" should be in RFC 5952 canonical format ("2001:db8::1")'),
        ("1.2.3", None),
        ("1.2.3.999", None),
        ("fe80::1%eth0", None),
        ("", None),
    ],
)
def test_an_address_in_an_odd_form(text, warning):
    assert ip_warnings(AT, text) == ([f"at: {warning}"] if warning else [])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10.0.0.0/8", []),
        ("192.168.1.5/24",
         ['CIDR value "192.168.1.5/24" is ambiguous in this context (should be "192.168.1.0/24" or "192.168.1.5/32"?)']),
        ("010.0.0.0/8", ['non-standard CIDR value "010.0.0.0/8" is invalid: use "10.0.0.0/8"']),
        ("10.0.0.0/08", ['non-standard CIDR value "10.0.0.0/08" is invalid: use "10.0.0.0/8"']),
        ("::ffff:10.0.0.0/104", ['non-standard CIDR value "::ffff:10.0.0.0/104" is invalid: use "10.0.0.0/8"']),
        ("010.0.0.1/8",
         ['CIDR value "010.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
          'non-standard CIDR value "010.0.0.1/8" is invalid: use "10.0.0.0/8"']),
        ("2001:db8::/64", []),
        ("2001:db8:0::/64",
         ['IPv6 CIDR value "2001:db8:0::/64" should be in RFC 5952 canonical format ("2001:db8::/64")']),
        ("10.0.0.0", []),
        ("10.0.0.0/33", []),
        ("x/8", []),
    ],
)  # fmt: skip
def test_a_range_in_an_odd_form(text, found):
    assert cidr_warnings(AT, text) == [f"at: {warning}" for warning in found]


HEADLESS = {"type": "ClusterIP", "clusterIP": "None", "clusterIPs": ["None"]}
OUTSIDE = "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
ZEROS = 'non-standard IP address "01.2.3.4" is invalid: use "1.2.3.4"'


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"type": "ClusterIP", "clusterIP": "10.0.0.1"}, []),
        ({**HEADLESS, "sessionAffinity": "None"}, []),
        (
            {**HEADLESS, "loadBalancerIP": "1.2.3.4", "externalIPs": ["1.2.3.4"], "sessionAffinity": "ClientIP"},
            ["spec.loadBalancerIP is ignored for headless services",
             "spec.externalIPs is ignored for headless services",
             "spec.SessionAffinity is ignored for headless services"],
        ),
        ({"type": "ExternalName", "externalName": "a.b"}, []),
        ({"type": "ExternalName", "externalName": "a.b", "sessionAffinity": "ClientIP"}, []),
        ({"type": "ExternalName", "externalIPs": ["1.2.3.4"]},
         ['spec.externalIPs is ignored when spec.type is "ExternalName"']),
        ({"type": "NodePort", "externalName": "a.b"},
         ['spec.externalName is ignored when spec.type is not "ExternalName"']),
        ({"type": "ClusterIP", "externalIPs": ["1.2.3.4"]}, [OUTSIDE]),
        ({"type": "ClusterIP", "externalIPs": ["01.2.3.4"]}, [f"spec.externalIPs[0]: {ZEROS}", OUTSIDE]),
        ({"clusterIP": "2001:db8::1", "clusterIPs": ["2001:db8::1", "01.2.3.4"]}, [f"spec.clusterIPs[1]: {ZEROS}"]),
        ({"type": "LoadBalancer", "loadBalancerIP": "01.2.3.4"}, [f"spec.loadBalancerIP: {ZEROS}"]),
        ({"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.0/8", "01.0.0.0/8"]},
         ['spec.loadBalancerSourceRanges[1]: non-standard CIDR value "01.0.0.0/8" is invalid: use "1.0.0.0/8"']),
        ({"trafficDistribution": "PreferClose"},
         ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']),
        ({"trafficDistribution": "PreferSameZone"}, []),
    ],
)  # fmt: skip
def test_services(spec, found):
    assert service_warnings({"spec": spec}) == found


def test_a_service_with_hints_of_old():
    assert service_warnings({"metadata": {"annotations": {HINTS: "auto"}}}) == [
        f"annotation {HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"
    ]


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ({}, [f"subsets[0].addresses[1].ip: {ZEROS}", f"subsets[0].notReadyAddresses[0].ip: {ZEROS}"]),
        ({"endpoints.kubernetes.io/managed-by": "endpoint-controller"}, []),
    ],
    ids=["by-hand", "by-the-controller"],
)
def test_endpoints(labels, found):
    bad = {"ip": "01.2.3.4"}
    subset = {"addresses": [{"ip": "1.2.3.4"}, bad], "notReadyAddresses": [bad]}
    obj = {"metadata": {"labels": labels}, "subsets": [subset]}

    assert EndpointsStrategy().warnings(None, obj, None) == found


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({}, []),
        ({"configSource": {}}, ["spec.configSource: the feature is removed"]),
        ({"externalID": "x"}, ["spec.externalID: this field is deprecated, and is unused by Kubernetes"]),
        ({"podCIDRs": ["10.0.0.0/24", "01.0.0.0/24"]},
         ['spec.podCIDRs[1]: non-standard CIDR value "01.0.0.0/24" is invalid: use "1.0.0.0/24"']),
    ],
)  # fmt: skip
def test_nodes(spec, found):
    assert node_warnings({"spec": spec}) == found


ZONE = {"matchExpressions": [{"key": "foo"}, {"key": "failure-domain.beta.kubernetes.io/zone", "values": ["-1"]}]}


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"hostPath": {}}, []),
        ({"persistentVolumeReclaimPolicy": "Recycle"},
         [("persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach "
         "is to use dynamic provisioning.")]),
        ({"nodeAffinity": {"required": {"nodeSelectorTerms": [ZONE]}}},
         [("nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[1].key: failure-domain.beta.kubernetes.io/zone "
         'is deprecated since v1.17; use "topology.kubernetes.io/zone" instead')]),
        ({"cephfs": {}}, ["cephfs: deprecated in v1.28, non-functional in v1.31+"]),
        ({"photonPersistentDisk": {}}, ["photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+"]),
        ({"scaleIO": {}}, ["scaleIO: deprecated in v1.16, non-functional in v1.22+"]),
        ({"storageos": {}}, ["storageOS: deprecated in v1.22, non-functional in v1.25+"]),
        ({"glusterfs": {}}, ["glusterfs: deprecated in v1.25, non-functional in v1.26+"]),
        ({"rbd": {}}, ["rbd: deprecated in v1.28, non-functional in v1.31+"]),
        ({"flocker": {}}, []),
    ],
)  # fmt: skip
def test_volumes(spec, found):
    assert persistent_volume_warnings({"spec": spec}) == [f"spec.{text}" for text in found]


def test_a_class_in_an_annotation():
    meta = {"annotations": {CLASS: "x"}}

    assert persistent_volume_warnings({"metadata": meta}) == [OLD_CLASS]
    assert claim_object_warnings({"metadata": meta}) == [OLD_CLASS]


def test_amounts_of_claims_are_whole_bytes():
    spec = {"resources": {"requests": {"storage": "200m"}, "limits": {"storage": "1500m"}}}
    found = [
        'resources.requests[storage]: fractional byte value "200m" is invalid, must be an integer',
        'resources.limits[storage]: fractional byte value "1500m" is invalid, must be an integer',
    ]

    assert claim_object_warnings({"spec": spec}) == [f"spec.{text}" for text in found]
    assert claim_template_warnings([{}, {"spec": spec}], is_new=True) == [
        f"spec.volumeClaimTemplates[1].{text}" for text in found
    ]
    assert claim_template_warnings([{"spec": spec}], is_new=False) == [
        f"spec.volumeClaimTemplates[0].Spec.{text}" for text in found
    ]
    assert claim_object_warnings({"spec": {"resources": {"requests": {"storage": "1Gi"}}}}) == []


def pem(kind, content=b"x"):
    return f"-----BEGIN {kind}-----\n{b64encode(content).decode()}\n-----END {kind}-----\n"


def a_pair(key):
    """Return a certificate that a key signed for itself, and the key, in PEM."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
    start = datetime(2026, 1, 1, tzinfo=UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, start, start + timedelta(days=1))
    certificate = made.sign(key, SHA256()).public_bytes(Encoding.PEM)
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate.decode(), text.decode()


CERTIFICATE, KEY = a_pair(ec.generate_private_key(ec.SECP256R1()))
OTHER = a_pair(ec.generate_private_key(ec.SECP256R1()))[1]
RSA = a_pair(rsa.generate_private_key(65537, 2048))[1]
SKIPPED = "after skipping PEM blocks of the following types: [A B]"


@pytest.mark.parametrize(
    ("certificate", "key", "found"),
    [
        (CERTIFICATE, KEY, None),
        (f"text\n{CERTIFICATE}{CERTIFICATE}", f"{pem('EC PARAMETERS')}{KEY}", None),
        ("x", KEY, "tls: failed to find any PEM data in certificate input"),
        ("-----BEGIN CERTIFICATE-----\n", KEY, "tls: failed to find any PEM data in certificate input"),
        (KEY, CERTIFICATE, ("tls: failed to find certificate PEM data in certificate input, but did find a private key; "
         "PEM inputs may have been switched")),
        (pem("A") + pem("B"), KEY, f'tls: failed to find "CERTIFICATE" PEM block in certificate input {SKIPPED}'),
        (CERTIFICATE, "x", "tls: failed to find any PEM data in key input"),
        (CERTIFICATE, CERTIFICATE, "tls: found a certificate rather than a key in the PEM for the private key"),
        (CERTIFICATE, pem("A") + pem("B"),
         f'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input {SKIPPED}'),
        (pem("CERTIFICATE"), KEY, "x509: malformed certificate"),
        (CERTIFICATE, pem("PRIVATE KEY"), "tls: failed to parse private key"),
        (CERTIFICATE, RSA, "tls: private key type does not match public key type"),
        (CERTIFICATE, OTHER, "tls: private key does not match public key"),
    ],
)  # fmt: skip
def test_secrets(certificate, key, found):
    data = {"tls.crt": b64encode(certificate.encode()).decode(), "tls.key": b64encode(key.encode()).decode()}

    assert secret_warnings({"type": "kubernetes.io/tls", "data": data}) == ([found] if found else [])
    assert secret_warnings({"type": "Opaque", "data": data}) == []


def test_service_accounts():
    account = {"metadata": {"annotations": {MOUNTABLE: "true"}}}
    text = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"

    assert service_account_warnings(account, None) == [f"metadata.annotations[{MOUNTABLE}]: {text}"]
    assert service_account_warnings(account, {}) == [f"metadata.annotations[{MOUNTABLE}]: {text}"]
    assert service_account_warnings(account, account) == []
    assert service_account_warnings({}, None) == []


def test_label_selectors_of_nodes():
    selector = {"matchLabels": {"beta.kubernetes.io/os": "x", "foo": "y"}, **ZONE}

    assert label_selector_warnings(AT, selector) == [
        (
            "at.matchExpressions[1].key: failure-domain.beta.kubernetes.io/zone is "
            'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
        ),
        'at.matchLabels.beta.kubernetes.io/os: deprecated since v1.14; use "kubernetes.io/os" instead',
    ]
    assert label_selector_warnings(AT, None) == []


def test_a_replication_controller_is_warned_of_its_name_once_and_of_its_template_when_it_changes():
    obj = {"metadata": {"name": "a.b", "generation": 1}, "spec": {"template": ALIASES}}
    changed = {**obj, "metadata": {"name": "a.b", "generation": 2}}
    strategy = ReplicationControllerStrategy()

    assert strategy.warnings(None, obj, None) == [DOTS, f"spec.template.{DUPLICATE}"]
    assert strategy.warnings(None, obj, obj) == []
    assert strategy.warnings(None, changed, obj) == [f"spec.template.{DUPLICATE}"]


def test_a_pod_template_is_warned_of_what_it_says():
    assert PodTemplateStrategy().warnings(None, {"template": ALIASES}, None) == [f"template.{DUPLICATE}"]
