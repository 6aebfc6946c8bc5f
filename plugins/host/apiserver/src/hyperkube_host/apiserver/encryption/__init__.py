"""Encryption at rest: resources that the store holds only in a form that it cannot read."""

from hyperkube_host.apiserver.encryption.configuration import EncryptionRules, read_configuration
from hyperkube_host.apiserver.encryption.form import EncryptedValues
from hyperkube_host.apiserver.encryption.live import LiveRules, live_rules

__all__ = ["EncryptedValues", "EncryptionRules", "LiveRules", "live_rules", "read_configuration"]
