"""MutatingAdmissionPolicy: an administrator's expressions change what is written.

A policy's mutations are apply configurations, merged as server-side apply merges, or JSON patches; a binding says where
and with which parameters.
"""

from hyperkube_admission.mutating_admission_policy.plugin import MutatingAdmissionPolicy

__all__ = ["MutatingAdmissionPolicy"]
