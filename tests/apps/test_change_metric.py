"""The service reports that the mistakes of a model have become more frequent."""

import random

from onmargin import Client
from tests.apps.serving import served


def test_a_change_is_counted(tmp_path, capsys):
    draw = random.Random(0)
    known = [({"a": side}, "up" if side > 0 else "down") for side in draw.choices([-1.0, 1.0], k=400)]
    unknown = [(x, draw.choice(["up", "down"])) for x, _ in known[:200]]
    with served(tmp_path) as http, Client(str(http.base_url)) as client:
        for name, task in [("a", "PassiveAggressiveClassifier"), ("numbers", "PassiveAggressiveRegressor")]:
            client.create(name, model=task)
        client.learn_many("numbers", [{"a": 1.0}], [2.0])
        for part, changes in [(known, 0), (unknown, 1)]:
            client.learn_many("a", *map(list, zip(*part, strict=True)))
            assert f'onmargin_changes{{model="a"}} {changes}' in client.metrics()
        assert 'onmargin_changes{model="numbers"} 0' in client.metrics()
