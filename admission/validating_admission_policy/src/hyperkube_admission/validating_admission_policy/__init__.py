"""ValidatingAdmissionPolicy: an administrator's expressions refuse what they must not let in.

A policy says what must hold, a binding where and with which parameters, and whether a breach denies, warns or is only
written down. No process of one's own is needed, and every evaluation has a cost limit.
Source: kubernetes apiserver ``pkg/admission/plugin/policy/validating``.
"""

from hyperkube_admission.validating_admission_policy.plugin import (
    BINDINGS,
    FAILURE_ANNOTATION,
    POLICIES,
    ValidatingAdmissionPolicy,
)

__all__ = ["BINDINGS", "FAILURE_ANNOTATION", "POLICIES", "ValidatingAdmissionPolicy"]
