"""Deployments: replica sets that roll from one template to the next."""
