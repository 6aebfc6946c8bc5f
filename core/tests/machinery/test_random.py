from random import Random
from uuid import RFC_4122, UUID

from hyperkube.machinery.random import ALPHABET, generate_name, safe_encode, suffix, unique_id


def test_a_suffix_has_five_safe_characters():
    assert len(suffix(Random(1))) == 5
    assert set(suffix(Random(1), 1000)) <= set(ALPHABET)


def test_a_long_base_is_cut_so_that_the_name_fits_a_label():
    assert len(generate_name(Random(1), "x" * 100)) == 63
    assert generate_name(Random(1), "web-").startswith("web-")


def test_a_hash_is_spelled_in_the_alphabet():
    assert safe_encode("6545877868") == "".join(ALPHABET[ord(char) % 27] for char in "6545877868")


def test_a_unique_id_is_a_random_uuid():
    random = Random(7)

    ids = [unique_id(random) for _ in range(200)]

    assert len(set(ids)) == 200
    assert all(str(UUID(text)) == text and UUID(text).version == 4 for text in ids)
    assert {UUID(text).variant for text in ids} == {RFC_4122}
