"""MutatingAdmissionPolicies and ValidatingAdmissionPolicies: expressions that change or refuse writes."""
