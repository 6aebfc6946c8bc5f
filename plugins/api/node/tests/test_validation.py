"""The validation of runtime classes, as far as it is not that of pods."""

from hyperkube_api.node.strategy import RuntimeClassStrategy


def test_tolerations_are_unique():
    same = {"key": "k", "operator": "Exists", "effect": "NoExecute"}
    obj = {"handler": "h", "scheduling": {"tolerations": [same, {**same, "tolerationSeconds": 5}]}}

    assert [str(error) for error in RuntimeClassStrategy().validate(None, obj)] == [
        (
            'scheduling.tolerations[1]: Duplicate value: {"Key":"k","Operator":"Exists","Value":"","Effect":"NoExecute",'
            '"TolerationSeconds":5}'
        )
    ]
