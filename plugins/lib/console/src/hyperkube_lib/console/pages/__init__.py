"""The pages, a module each: what is read from the API, and what a template makes of it."""
