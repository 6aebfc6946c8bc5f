"""The other ends that tests of plugins need: webhooks, an OpenID issuer, certificates, free ports."""
