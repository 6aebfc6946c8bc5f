"""The function libraries: the language's own, cel-go's extensions and those of Kubernetes."""
