"""Device classes by the extended resources that they stand for."""

import pytest
from hyperkube_lib.scheduling.device_classes import DeviceClasses, may_stand_for_class

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import DEVICE_CLASSES
from hyperkube.testing.waiting import eventually

GPU, NIC = "example.com/gpu", "example.com/nic"
IMPLICIT = "deviceclass.resource.kubernetes.io/a"


@pytest.mark.parametrize(
    ("name", "may"),
    [
        (GPU, True),
        (IMPLICIT, True),
        ("cpu", False),
        ("kubernetes.io/x", False),
        ("hugepages-2Mi", False),
        ("requests.example.com/x", False),
    ],
)
def test_which_resources_may_stand_for_a_class(name, may):
    assert may_stand_for_class(name) is may


def test_the_newest_class_stands_for_a_resource():
    def made(name, day):
        meta = {"name": name, "creationTimestamp": f"2026-01-0{day}T00:00:00Z"}
        return {"metadata": meta, "spec": {"extendedResourceName": GPU}}

    client = FakeClient()
    client.seed(DEVICE_CLASSES, made("old", 1), made("new-b", 2), made("new-a", 2), {"metadata": {"name": "plain"}})
    informers = InformerFactory(client)
    informers.start()
    classes = DeviceClasses(informers, lambda: None)

    assert classes.standing_for(GPU)["metadata"]["name"] == "new-a"
    assert classes.standing_for("deviceclass.resource.kubernetes.io/plain")["metadata"]["name"] == "plain"
    assert classes.standing_for(NIC) is None


def test_news_of_classes_are_told_and_counted():
    client, news = FakeClient(), []
    informers = InformerFactory(client)
    informers.start()
    classes = DeviceClasses(informers, lambda: news.append(classes.version))
    before = classes.get("late")
    client.create(DEVICE_CLASSES, {"metadata": {"name": "late"}, "spec": {"extendedResourceName": GPU}})
    eventually(lambda: news)
    client.delete(DEVICE_CLASSES, "late")
    eventually(lambda: len(news) == 2)

    assert before is None
    assert news == [1, 2]
    assert classes.standing_for(GPU) is None
