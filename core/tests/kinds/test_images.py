"""What the name of an image says about pulling it."""

import pytest

from hyperkube.kinds.images import pull_policy


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.25", "IfNotPresent"),
        ("localhost:5000/x", "Always"),
        ("localhost:5000/x:v1", "IfNotPresent"),
        ("x@sha256:" + "a" * 64, "IfNotPresent"),
        ("NOT an image", "IfNotPresent"),
    ],
)
def test_an_image_that_may_change_under_its_name_is_always_pulled(image, policy):
    assert pull_policy(image) == policy
