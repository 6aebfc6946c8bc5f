"""API group apiextensions: CustomResourceDefinitions."""
