"""Features of tokens by templates."""

import pytest

from onmargin.features import WindowFeatures

SENTENCE = [("the", "DT"), ("dog", "NN"), ("barks", "VB")]


def test_the_ordinary_templates_give_every_token_its_window():
    first, middle, last = WindowFeatures()(SENTENCE)
    assert "w[1]=dog" in first
    assert "first" in first
    assert not any("[-" in name for name in first)
    assert "w[-1]|w[0]=the|dog" in middle
    assert "pos[-1]|pos[0]|pos[1]=DT|NN|VB" in middle
    assert "first" not in middle
    assert "last" in last
    assert len(set(middle)) == len(middle)


def test_one_token_is_first_and_last():
    assert WindowFeatures(["w"], ["w[0]", "w[1]"])([("a",)]) == [["w[0]=a", "first", "last"]]
    assert WindowFeatures()([]) == []


def test_columns_without_templates_are_not_used():
    assert WindowFeatures(["w"], ["w[0]"])(SENTENCE)[1] == ["w[0]=dog"]


def test_slices_are_parts_of_words():
    features = WindowFeatures(["w"], ["w[0][-2:]", "w[1][:1]|w[0]", "w[0][1:-1]"])
    assert features(SENTENCE)[0] == ["w[0][-2:]=he", "w[1][:1]|w[0]=d|the", "w[0][1:-1]=h", "first"]


def test_words_without_tags_have_their_own_templates():
    (name,) = WindowFeatures(["w"])([("barks",)])
    assert name[1:-2] == [
        *(f"w[0][:{k}]={'barks'[:k]}" for k in (1, 2, 3)),
        *(f"w[0][-{k}:]={'barks'[-k:]}" for k in (1, 2, 3)),
    ]


@pytest.mark.parametrize("template", ["w[0][1]", "w[0][:][1:]", "w[0][a:]", "word[0]", "w", "w[a]", "w[0]||w[1]", ""])
def test_bad_templates_are_refused(template):
    with pytest.raises(ValueError, match="a template is made of"):
        WindowFeatures(["w"], [template])


def test_columns_of_dicts_are_found_by_name():
    """They were taken in the order of the dict, whatever their names were."""
    features = WindowFeatures()
    assert features([{"pos": pos, "x": "1", "w": word} for word, pos in SENTENCE]) == features(SENTENCE)
    with pytest.raises(ValueError, match="token 0 must have the columns"):
        features([{"word": "the", "tag": "DT"}])


def test_tokens_without_their_columns_are_refused():
    with pytest.raises(ValueError, match="token 1 must have the columns"):
        WindowFeatures()([("the", "DT"), ("dog",)])
    with pytest.raises(ValueError, match="token 0 must have the columns"):
        WindowFeatures(["w", "pos"])(["the"])
