"""Images that nothing uses go when the disk is full, or when they are old."""

import pytest
from hyperkube_host.kubelet.images.image_gc_manager import (
    ImageGCFailed,
    ImageGCManager,
    ImageGCPolicy,
    bytes_to_free,
)

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, Image, RuntimeFailed
from hyperkube.machinery.clock import FakeClock


class Node:
    def __init__(self, *images, capacity=1000, **policy):
        self.clock = FakeClock()
        self.present = {image.id: image for image in images}
        self.in_use, self.stuck, self.events, self.kept = [], [], [], []
        self.capacity, self.other = capacity, 0
        given = {"min_age_seconds": 0.0, **policy}
        self.manager = ImageGCManager(
            ImageGCPolicy(**given),
            self,
            self.clock,
            self.image_fs,
            lambda *what: self.events.append(what),
            lambda ids, begun: self.kept.append((sorted(ids), begun)),
        )

    def images(self):
        return list(self.present.values())

    def containers(self):
        return [
            ContainerStatus(id=name, sandbox_id="s", name="c", attempt=0, state=ContainerState.EXITED, image=name)
            for name in self.in_use
        ]

    def remove_image(self, key):
        if key in self.stuck:
            raise RuntimeFailed("busy")
        del self.present[key]

    def image_fs(self):
        used = self.other + sum(image.size for image in self.present.values())
        return {"capacityBytes": self.capacity, "availableBytes": self.capacity - used}


def image(name, size=100, **fields):
    return Image(id=name, tags=(f"{name}:1",), size=size, **fields)


def used_in_turn(node, *names):
    """Let containers use images one after the other, and none at the end."""
    for name in names:
        node.in_use = [name]
        node.manager.garbage_collect()
        node.clock.advance(10)
    node.in_use = []


def test_nothing_goes_while_there_is_room():
    node = Node(image("a"), image("b"))
    node.manager.garbage_collect()

    assert set(node.present) == {"a", "b"}


def test_what_was_not_used_for_longest_goes_first_and_no_more_than_is_needed():
    node = Node(image("a"), image("b"), image("c"))
    used_in_turn(node, "a:1", "b:1", "c:1")
    node.other = 570

    node.manager.garbage_collect()

    assert set(node.present) == {"b", "c"}
    assert node.kept[-1] == (["b", "c"], "2030-01-01T00:00:30Z")


def test_images_of_containers_pinned_and_young_ones_stay():
    node = Node(image("used"), image("pinned", pinned=True), image("young"), min_age_seconds=60.0)
    node.in_use, node.other = ["used:1"], 600

    with pytest.raises(ImageGCFailed, match="Attempted to free 100 bytes, but only found 0 bytes"):
        node.manager.garbage_collect()

    node.clock.advance(61)
    node.manager.garbage_collect()
    assert set(node.present) == {"used", "pinned"}


def test_a_second_failure_in_a_row_is_an_event():
    node = Node(image("a"))
    node.in_use, node.other = ["a"], 900
    node.manager.run()
    assert [event[1] for event in node.events] == ["FreeDiskSpaceFailed"]

    node.manager.run()

    assert [event[1] for event in node.events] == ["FreeDiskSpaceFailed", "FreeDiskSpaceFailed", "ImageGCFailed"]


def test_a_disk_without_size_is_told():
    node = Node(capacity=0)
    node.manager.run()

    assert node.events == [("Warning", "InvalidDiskCapacity", "invalid capacity 0 on image filesystem")]


def test_unused_images_go_at_their_greatest_age():
    node = Node(image("old"), image("used"), max_age_seconds=100.0)
    node.in_use = ["used"]
    node.manager.garbage_collect()
    node.clock.advance(99)
    node.manager.garbage_collect()
    assert set(node.present) == {"old", "used"}

    node.clock.advance(1)
    node.manager.garbage_collect()

    assert set(node.present) == {"used"}


def test_all_unused_go_when_the_disk_is_needed_and_one_that_cannot_is_passed_over():
    node = Node(image("a"), image("b"))
    node.stuck = ["a"]
    node.clock.advance(1)

    node.manager.delete_unused_images()

    assert set(node.present) == {"a"}


@pytest.mark.parametrize(("available", "wanted"), [(1000, 0), (160, 0), (159, 41), (150, 50), (0, 200)])
def test_how_much_is_to_be_freed(available, wanted):
    assert bytes_to_free(ImageGCPolicy(), available, 1000) == wanted
