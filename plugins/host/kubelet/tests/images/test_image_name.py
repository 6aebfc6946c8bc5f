"""The names of images, as they are given and as they are meant."""

import pytest
from hyperkube_host.kubelet.images.image_name import ImageName, InvalidImageName, parse_image_name, with_default_tag

DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("root", ImageName("docker.io/library/root", "latest", "")),
        ("root:tag", ImageName("docker.io/library/root", "tag", "")),
        (f"root@{DIGEST}", ImageName("docker.io/library/root", "", DIGEST)),
        ("user/repo", ImageName("docker.io/user/repo", "latest", "")),
        ("url.com/repo:tag", ImageName("url.com/repo", "tag", "")),
        ("url.com:5000/a/b", ImageName("url.com:5000/a/b", "latest", "")),
        ("localhost/a", ImageName("localhost/a", "latest", "")),
        ("index.docker.io/a", ImageName("docker.io/library/a", "latest", "")),
        (f"url.com/repo:tag@{DIGEST}", ImageName("url.com/repo", "tag", DIGEST)),
    ],
)
def test_a_name_has_parts(image, name):
    assert parse_image_name(image) == name


@pytest.mark.parametrize(
    ("image", "why"),
    [
        ("golden.test/UPPER/app:1", "invalid reference format: repository name (UPPER/app) must be lowercase"),
        ("golden.test/a b", "invalid reference format"),
        ("", "invalid reference format"),
        (":latest", "invalid reference format"),
        ("root@sha256:1234", "invalid reference format"),
        ("root@md5:" + "0" * 32, "unsupported digest algorithm"),
        ("root@sha256:" + "0" * 63, "invalid checksum digest length"),
        ("root@sha256:" + "A" * 64, "invalid checksum digest format"),
        ("0" * 64, f"invalid repository name ({'0' * 64}), cannot specify 64-byte hexadecimal strings"),
        ("x/" + "a" * 255, "repository name must not be more than 255 characters"),
    ],
)
def test_what_is_no_name_is_told(image, why):
    with pytest.raises(InvalidImageName) as caught:
        parse_image_name(image)

    assert str(caught.value) == f'couldn\'t parse image name "{image}": {why}'


@pytest.mark.parametrize(
    ("image", "tagged"),
    [
        ("root", "root:latest"),
        ("root:tag", "root:tag"),
        (f"root@{DIGEST}", f"root@{DIGEST}"),
        ("url.com:5000/a", "url.com:5000/a:latest"),
    ],
)
def test_only_a_name_without_tag_and_digest_gets_a_tag(image, tagged):
    assert with_default_tag(image) == tagged
