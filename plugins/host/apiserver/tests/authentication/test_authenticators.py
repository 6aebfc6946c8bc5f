"""Which authenticators run: those that their flags switch on, in the bundle's order, and those that are named."""

import pytest
from hyperkube_host.apiserver.flags import FAMILIES, FLAGS, NAME

from hyperkube.plugin.defaults import arranged
from hyperkube.plugin.settings import PluginSettings

pytest.importorskip("hyperkube_bundle.default", reason="needs the bundle's order")


def chosen(**values):
    given = {name.replace("_", "-"): value for name, value in values.items()}
    return PluginSettings(NAME, FAMILIES, given, FLAGS).switched_on("authn")


def test_flags_switch_them_on_in_the_order_of_the_bundle():
    names = chosen(insecure_allow_any_token=True, oidc_issuer_url="u", basic_auth_file="f", client_ca_file="c")

    assert names == ["X509", "PasswordFile", "OIDC", "AnyToken", "Anonymous"]


def test_a_flag_of_the_server_may_switch_one_on():
    assert chosen(anonymous_auth=False, authentication_config="f") == ["OIDC"]
    assert chosen(service_account_signing_key_file="k", enable_bootstrap_token_auth=True) == [
        "ServiceAccount",
        "BootstrapToken",
        "Anonymous",
    ]


def test_those_of_third_parties_are_asked_before_anonymous():
    assert arranged("authn", ["Anonymous", "Zeta", "Alpha", "X509"]) == ["X509", "Zeta", "Alpha", "Anonymous"]
