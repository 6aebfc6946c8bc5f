"""validatingadmissionpolicy-status: what the expressions of admission policies get wrong about the types they match."""

from hyperkube_controller.validatingadmissionpolicy_status.controller import ValidatingAdmissionPolicyStatus

__all__ = ["ValidatingAdmissionPolicyStatus"]
