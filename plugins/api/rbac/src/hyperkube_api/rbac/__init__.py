"""API group rbac: Roles, ClusterRoles and their bindings."""
