"""API group admissionregistration: admission webhooks and policies."""
