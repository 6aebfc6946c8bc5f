"""PodSecurityPolicies of policy/v1beta1, as they were served up to Kubernetes 1.24."""
