"""RBAC: roles say what may be done, bindings say by whom.

Everything adds up, nothing denies: a request is allowed by the first rule that covers it, or not at all. Decisions are
made from caches that informers keep, and remembered until a role or a binding changes.
Source: kubernetes ``plugin/pkg/auth/authorizer/rbac`` and ``pkg/registry/rbac/validation``.
"""

from hyperkube_authz.rbac.authorizer import RBAC

__all__ = ["RBAC"]
