"""The rules of schemas (``x-kubernetes-validations``), compiled and evaluated."""
