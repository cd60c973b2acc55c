"""SequenceTagger with several C: attributes, errors, and that no state is lost."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import onmargin
from onmargin import SequenceTagger
from onmargin._core.geometries.chain import Paths
from onmargin._core.several.geometries import ExpertPaths
from onmargin.theory import NoTheorem, certify
from tests.sentences import LABELS, corpus, state

X, y = corpus(40)
GRID = [0.01, 0.1, 1.0]
both = pytest.mark.parametrize("combine", ["leader", "hedge"])


def results(model):
    """Return the state of each model, for comparison."""
    return {name: str(np.array(value).tolist()) for name, value in vars(model.grid_).items()}


@both
def test_a_grid_learns_a_small_language(combine):
    tagger = SequenceTagger(C="auto", combine=combine, random_state=0).fit(X, y)
    fresh, truth = corpus(seed=1)
    assert tagger.score(fresh, truth) > 0.95
    sweep = tagger.grid_
    assert sweep.names[0] == "C=0.001"
    assert sweep.cost.shape == sweep.mistakes.shape == (9,)
    assert sweep.leader == sweep.cost.argmin()
    assert sweep.weights.sum() == pytest.approx(1)
    assert tagger.totals_.rounds == 400


@pytest.mark.parametrize("transition_features", [None, ("w=",)])
def test_attributes_are_those_of_the_leader(transition_features):
    tagger = SequenceTagger(C=GRID, transition_features=transition_features).partial_fit(X, y)
    sweep = tagger.grid_
    alone = SequenceTagger(C=GRID[sweep.leader], transition_features=transition_features).partial_fit(X, y)
    assert state(tagger)[:-2] == state(alone)[:-2]
    assert tagger.decode(X, n_best=2) == alone.decode(X, n_best=2)
    assert tagger.weights("VERB") == alone.weights("VERB")
    assert len(sweep.transition_coef) == (3 if transition_features else 0)


def test_votes_are_the_scores_of_labelings():
    tagger = SequenceTagger(C=GRID, combine="hedge").partial_fit(X, y)
    each = [SequenceTagger(C=C).partial_fit(X, y).predict(X) for C in GRID]
    weights = tagger.grid_.weights
    for i, few in enumerate(tagger.decode(X, n_best=3)):
        assert few[0][1] == tagger.predict_one(X[i])
        for score, labels in few:
            votes = [weights @ [path[i][j] == label for path in each] for j, label in enumerate(labels)]
            assert score == pytest.approx(sum(votes))


@both
@pytest.mark.parametrize("transition_features", [None, ("end=", "before=t")])
def test_how_a_stream_is_cut_makes_no_difference(combine, transition_features):
    """Labels and features appear during the stream."""
    labels = [["OTHER"] * len(row) if i == 20 else row for i, row in enumerate(y)]
    options = {"C": GRID, "combine": combine, "transition_features": transition_features, "average": 7}
    whole = SequenceTagger(**options).partial_fit(X, labels)
    parts = SequenceTagger(**options)
    for k, (row, right) in enumerate(zip(X, labels, strict=True)):
        parts.learn_one(row, right)
        parts = pickle.loads(pickle.dumps(parts)) if k % 7 == 0 else copy.deepcopy(parts)
    assert state(parts) == state(whole)
    assert results(parts) == results(whole)


@both
def test_a_saved_tagger_continues_exactly(combine, tmp_path):
    tagger = SequenceTagger(C="auto", combine=combine).partial_fit(X[:20], y[:20])
    onmargin.save(tagger, tmp_path / "tagger")
    read = onmargin.load(tmp_path / "tagger")
    for model in (tagger, read):
        model.partial_fit(X[20:], y[20:])
    assert results(read) == results(tagger)
    assert read.totals_ == tagger.totals_
    assert read.decode(X) == tagger.decode(X)


def test_passes_continue_where_they_were():
    twice = SequenceTagger(C=GRID, combine="hedge", max_iter=2, shuffle=False, average=False).fit(X, y)
    warm = SequenceTagger(C=GRID, combine="hedge", max_iter=1, shuffle=False, average=False, warm_start=True)
    assert results(warm.fit(X, y).fit(X, y)) == results(twice)
    warm.set_params(warm_start=False).fit(X, y)
    assert warm.totals_.rounds == 40


def test_weight_zero_skips_a_sequence_and_weights_scale_every_c():
    heavy = SequenceTagger(C=GRID).partial_fit(X, y, sample_weight=np.where(np.arange(40) < 10, 0.0, 3.0))
    plain = SequenceTagger(C=[3 * C for C in GRID]).partial_fit(X[10:], y[10:])
    np.testing.assert_allclose(heavy.grid_.transitions, plain.grid_.transitions)
    assert heavy.totals_.rounds == 30


def test_empty_sequences_have_no_loss():
    tagger = SequenceTagger(C=GRID, combine="hedge").partial_fit([[], []], [[], []], classes=LABELS)
    assert tagger.totals_.rounds == 2
    assert tagger.predict([[], X[0]]) == [[], [LABELS[0]] * len(X[0])]
    assert tagger.decode([[]]) == [[(0.0, [])]]
    assert tagger.grid_.cost.tolist() == [0, 0, 0]


@pytest.mark.parametrize("C", [[], [0.0], [1.0, -1.0], "each", [True]])
def test_sequences_of_invalid_c_are_refused(C):
    with pytest.raises(ValueError, match=r"C must be a number greater than 0, or a sequence.* or 'auto'"):
        SequenceTagger(C=C).fit(X, y)
    with pytest.raises(ValueError, match="combine must be 'leader' or 'hedge'"):
        SequenceTagger(C=GRID, combine="vote").fit(X, y)


def test_the_perceptron_has_no_c():
    with pytest.raises(ValueError, match="a sequence of C needs update other than 'perceptron'"):
        SequenceTagger(C=GRID, update="perceptron").partial_fit(X, y)


@pytest.mark.filterwarnings("ignore:all . values of C behaved the same")
@pytest.mark.parametrize("changed", [[0.1, 2.0], [0.1], 1.0, "auto"])
def test_values_of_c_cannot_change_after_the_first_example(changed):
    tagger = SequenceTagger(C=GRID).partial_fit(X[:20], y[:20])
    before = results(tagger)
    with pytest.raises(ValueError, match="C cannot change after training has started"):
        tagger.set_params(C=changed).partial_fit(X, y)
    assert results(tagger) == before
    clone(tagger).partial_fit(X, y)
    tagger.fit(X, y)  # all start over


def test_a_new_c_does_not_rename_the_models():
    tagger = SequenceTagger(C=GRID).partial_fit(X[:20], y[:20])
    names = tagger.grid_.names
    assert len(names) == len(GRID)
    assert tagger.set_params(C=1.0).grid_.names == names


@both
def test_refused_input_changes_no_model(combine):
    tagger = SequenceTagger(C=GRID, combine=combine, transition_features=("w=",)).partial_fit(X[:20], y[:20])
    twin = copy.deepcopy(tagger)
    with pytest.raises(ValueError, match="all strings or all integers"):
        tagger.partial_fit([[["new"], ["w=new"]]], [["NEW", 1]])
    for model in (tagger, twin):
        model.partial_fit(X[20:], y[20:])
    assert (state(tagger), results(tagger)) == (state(twin), results(twin))


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ([], "must be from 1 to 1000"),
        ([(5, 2), (5, 3)], "same features and labels"),
        ([(5, 2), (4, 2)], "same features and labels"),
    ],
)
def test_models_side_by_side_are_alike(sizes, reason):
    with pytest.raises(ValueError, match=reason):
        ExpertPaths([Paths(*size, np.float64, sparse=True) for size in sizes])


def test_one_model_has_no_sweep():
    with pytest.raises(AttributeError, match="only one model"):
        SequenceTagger().partial_fit(X, y).grid_  # noqa: B018
    assert not hasattr(SequenceTagger(C=GRID), "grid_")


def test_certify_points_to_the_regret():
    with pytest.raises(NoTheorem, match="regret_bound"):
        certify(SequenceTagger(C="auto"), X, y)
