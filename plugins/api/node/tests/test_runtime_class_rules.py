"""What is wrong with runtime classes beyond what pods and containers have, too."""

from hyperkube_api.node.strategy import RuntimeClassStrategy


def test_a_toleration_is_said_once():
    same = {"key": "k", "operator": "Exists", "effect": "NoExecute"}
    obj = {"handler": "h", "scheduling": {"tolerations": [same, {**same, "tolerationSeconds": 5}]}}

    assert [str(error) for error in RuntimeClassStrategy().validate(None, obj)] == [
        (
            'scheduling.tolerations[1]: Duplicate value: {"Key":"k","Operator":"Exists","Value":"","Effect":"NoExecute",'
            '"TolerationSeconds":5}'
        )
    ]
