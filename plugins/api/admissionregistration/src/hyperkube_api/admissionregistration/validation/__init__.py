"""What is wrong with webhooks and admission policies."""
