"""Roles and bindings: what the server decides when one is created or changed.

Whether the author may grant what is granted is asked here, too: nobody hands out more than they have.
Source: kubernetes pkg/registry/rbac.
"""

from __future__ import annotations

from hyperkube_api.rbac import escalation, validation
from hyperkube_api.rbac.defaults import default_binding

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.names import path_segment_name, path_segment_prefix
from hyperkube.machinery.objects import Object


class _RbacStrategy(Strategy):
    """What roles and bindings have in common: names may hold colons."""

    allow_create_on_update = True

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check a path segment."""
        return path_segment_prefix(name) if prefix else path_segment_name(name)


class _RoleStrategy(_RbacStrategy):
    """What roles of both scopes have in common."""

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Refuse to grant what the author does not have."""
        escalation.check_role(call, obj, None)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Refuse to grant what the author does not have."""
        escalation.check_role(call, obj, old)


class _BindingStrategy(_RbacStrategy):
    """What bindings of both scopes have in common."""

    def default(self, obj: Object) -> None:
        """Fill in the groups."""
        default_binding(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Refuse to bind to what the author does not have."""
        escalation.check_binding(call, obj, None)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Refuse to bind to what the author does not have."""
        escalation.check_binding(call, obj, old)


class RoleStrategy(_RoleStrategy):
    """Rights within a namespace."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the rules."""
        return validation.validate_rules(obj, namespaced=True)


class ClusterRoleStrategy(_RoleStrategy):
    """Rights anywhere."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the rules and what they are gathered from."""
        return validation.validate_cluster_role(obj)


class RoleBindingStrategy(_BindingStrategy):
    """Who has a role within a namespace."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check role and subjects."""
        return validation.validate_binding(obj, namespaced=True)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the role stayed."""
        return validation.validate_binding(obj, namespaced=True) + validation.role_kept(obj, old)


class ClusterRoleBindingStrategy(_BindingStrategy):
    """Who has a role everywhere."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check role and subjects."""
        return validation.validate_binding(obj, namespaced=False)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the role stayed."""
        return validation.validate_binding(obj, namespaced=False) + validation.role_kept(obj, old)
