"""Cluster trust bundles: their names, and the certificates in them."""

import pytest
from hyperkube_api.certificates.cluster_trust_bundles import name_errors, trust_bundle_errors
from hyperkube_lib.serving.certificates import issue, make_ca

from hyperkube.machinery.field import ROOT

PATH = ROOT.child("spec", "trustBundle")


def authority(name="ca"):
    return make_ca(name).certificate.decode()


def leaf():
    return issue(make_ca("ca"), "jane", client=True).certificate.decode()


@pytest.mark.parametrize(
    ("name", "signer", "errors"),
    [
        ("plain", "", []),
        ("k8s.io:x:y", "", ['ClusterTrustBundle without signer name must not have ":" in its name']),
        ("k8s.io:foo:bar", "k8s.io/foo", []),
        ("bar", "k8s.io/foo", ["ClusterTrustBundle for signerName k8s.io/foo must be named with prefix k8s.io:foo:"]),
    ],
)
def test_a_name_begins_with_that_of_the_signer(name, signer, errors):
    assert name_errors(name, signer) == errors


@pytest.mark.parametrize(
    ("bundle", "details"),
    [
        (authority(), []),
        (authority("a") + "a comment\n" + authority("b"), []),
        ("", ["at least one trust anchor must be provided"]),
        (leaf(), ["entry 0 does not have the CA bit set"]),
        (authority().replace("CERTIFICATE", "NOTACERTIFICATE"), ["entry 0 has bad block type: NOTACERTIFICATE"]),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", ["entry 0 does not parse as X.509"]),
        (
            "-----BEGIN CERTIFICATE-----\nkey: value\n\nAAAA\n-----END CERTIFICATE-----\n",
            ["entry 0 has PEM block headers"],
        ),
    ],
    ids=["one", "two", "none", "leaf", "other-block", "garbage", "headers"],
)
def test_only_authorities_are_anchors(bundle, details):
    assert [error.detail for error in trust_bundle_errors(PATH, bundle)] == details


def test_an_anchor_is_there_but_once():
    twice = authority() * 2

    (error,) = trust_bundle_errors(PATH, twice)

    assert error.detail == "duplicate trust anchor (indices [0 1])"


def test_a_bundle_has_at_most_a_mebibyte():
    (error,) = trust_bundle_errors(PATH, "a" * (1 << 20) + "b")

    assert error.reason == "FieldValueTooLong"
