"""Products of namespaces of Vowpal Wabbit's format, as by its -q."""

from onmargin import load, stream
from onmargin.features import RecordFeatures
from onmargin.io import read_vw
from tests.apps.program import onmargin

# The label says whether both letters are the first of their namespace, or neither: no sum of features tells.
LINES = [
    f"{1 if (user == 'x') == (item == 'u') else -1} |user {user} |item {item} k:0.5\n"
    for user, item in zip("xyyxyxxy" * 20, "uuvvuvuv" * 20, strict=True)
]


def test_products_of_namespaces_are_features(tmp_path):
    data, plain, crossed = tmp_path / "a.vw", tmp_path / "plain", tmp_path / "crossed"
    data.write_text("".join(LINES))
    options = ("--model", "PassiveAggressiveClassifier", "-o")
    onmargin("train", data, *options, plain)
    onmargin("train", data, *options, crossed, "--cross", "user", "item")
    rows = list(read_vw(data))
    model = stream.PassiveAggressiveClassifier(features=RecordFeatures(cross=[("user", "item")]))
    model.learn_many([row.x for row in rows], [int(row.y) for row in rows])
    assert load(crossed).weights() == model.weights()
    assert load(plain).totals_.mistakes > 60
    assert load(crossed).totals_.mistakes < 10
    answers = onmargin("predict", crossed, data).split()
    assert [*map(int, answers)] == [int(row.y) for row in rows]


def test_a_namespace_with_itself_gives_each_pair_once():
    reading = RecordFeatures(cross=[("a", "a"), ("a", "absent")])
    assert reading.read({"a^x": 1.0, "a^y": 2.0}) == {
        "a^x": 1.0,
        "a^y": 2.0,
        "a^x*a^x": 1.0,
        "a^x*a^y": 2.0,
        "a^y*a^y": 4.0,
    }
    assert reading.read({"a": 3.0}) == {"a": 3.0, "a*a": 9.0}
