"""API group certificates: CertificateSigningRequests and trust bundles."""
