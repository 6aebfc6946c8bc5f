"""MutatingWebhookConfigurations and ValidatingWebhookConfigurations: webhooks that change or refuse writes."""
