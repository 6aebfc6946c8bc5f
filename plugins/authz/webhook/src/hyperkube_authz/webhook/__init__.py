"""Webhook: a server that is asked with SubjectAccessReviews, by flags or by an AuthorizationConfiguration file."""

from hyperkube_authz.webhook.authorizer import Webhook

__all__ = ["Webhook"]
