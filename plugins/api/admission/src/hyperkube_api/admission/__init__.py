"""API group admission: AdmissionReview, which webhooks speak."""
