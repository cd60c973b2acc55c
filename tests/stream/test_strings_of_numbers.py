"""Strings of numbers that are learned as categories are not silent, and those of real categories are."""

import warnings

import pytest

from onmargin import SequenceTagger, river, stream
from onmargin.features import RecordFeatures

FACES = [stream.PassiveAggressiveClassifier, stream.AutoClassifier, river.PassiveAggressiveClassifier]
HASHED = RecordFeatures(n_features=1024)


def learn(model, rows):
    """Learn rows with alternating labels; return the warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for k, row in enumerate(rows):
            model.learn_one(row, k % 2)
    return found


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("features", [None, HASHED])
def test_fractions_and_many_integers_warn_once_at_the_caller(face, features):
    rows = [{"amount": f"{k + 0.5}", "age": str(k), "kind": "xy"[k % 2]} for k in range(60)] * 2
    found = learn(face(features=features), rows)
    assert [str(one.message).split("'")[1] for one in found] == ["amount", "age"]
    assert "features=RecordFeatures(numbers=('amount',))" in str(found[0].message)
    assert {one.filename for one in found} == {__file__}


@pytest.mark.parametrize("face", FACES)
def test_numbers_and_categories_do_not_warn(face):
    codes = [{"rooms": str(k % 9), "code": f"{k % 9}a", "date": "2026-01-02"} for k in range(60)]
    assert not learn(face(), codes)
    declared = RecordFeatures(numbers=("amount",))
    assert not learn(face(features=declared), [{"amount": f"{k}.5"} for k in range(60)])
    assert not learn(face(), [{"amount": 0.5}, *({"amount": f"{k}.5"} for k in range(60))])


def test_predictions_and_the_words_of_sentences_do_not_warn():
    model = stream.PassiveAggressiveClassifier()
    model.learn_many([{"kind": "x"}, {"kind": "y"}], [0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_one({"amount": "0.5"})
        sentences = [[{"word": f"{k}.5"}, {"word": "percent"}] for k in range(40)]
        SequenceTagger().fit(sentences, [["number", "unit"]] * 40).predict(sentences)
