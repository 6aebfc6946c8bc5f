"""Calls to webhooks: of services and URLs, with reviews as requests and answers."""
