"""OIDC: ID tokens of OpenID Connect issuers, by flags or by an AuthenticationConfiguration file."""

from hyperkube_authn.oidc.authenticator import OIDC

__all__ = ["OIDC"]
