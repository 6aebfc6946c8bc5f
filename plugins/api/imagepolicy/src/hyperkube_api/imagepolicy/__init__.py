"""API group imagepolicy: ImageReview, which the image policy webhook speaks."""
