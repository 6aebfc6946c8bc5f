"""Encryption at rest: resources that the store holds only in a form that it cannot read."""

from hyperkube.apiserver.encryption.configuration import EncryptionRules, read_configuration
from hyperkube.apiserver.encryption.form import EncryptedValues

__all__ = ["EncryptedValues", "EncryptionRules", "read_configuration"]
