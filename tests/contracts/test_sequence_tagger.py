"""SequenceTagger: training, predictions and attributes."""

import copy
import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from onmargin import SequenceTagger
from onmargin.learner import Learner
from onmargin.models.chain import Chain
from tests.sentences import LABELS, corpus, state


def test_it_learns_a_small_language():
    X, y = corpus()
    tagger = SequenceTagger(random_state=0).fit(X, y)
    fresh, truth = corpus(seed=1)
    assert tagger.score(fresh, truth) > 0.97
    assert tagger.classes_.tolist() == LABELS
    assert tagger.coef_.shape == (3, len(tagger.feature_names_)) == (3, tagger.n_features_in_)
    assert tagger.transitions_.shape == (3, 3)
    assert tagger.n_iter_ == 10
    assert tagger.totals_.rounds == 600 == tagger.t_ - 1


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("cost", ["hamming", "squared_hamming"])
@pytest.mark.parametrize("update", ["prediction", "max_loss"])
def test_every_update_learns(update, cost, loss):
    X, y = corpus()
    tagger = SequenceTagger(update=update, cost=cost, loss=loss, random_state=0).fit(X, y)
    assert tagger.score(X, y) > 0.97


def test_the_perceptron_takes_steps_of_one():
    X, y = corpus()
    tagger = SequenceTagger(update="perceptron", average=False, fit_intercept=False).partial_fit(X, y)
    assert np.array_equal(tagger.coef_, tagger.coef_.round())
    assert np.array_equal(tagger.transitions_, tagger.transitions_.round())
    assert tagger.totals_.updates == tagger.totals_.mistakes


def test_predictions_are_the_best_of_the_decoded():
    X, y = corpus(20)
    tagger = SequenceTagger(random_state=0).fit(X, y)
    best = tagger.decode(X, n_best=4)
    assert [few[0][1] for few in best] == tagger.predict(X)
    for few, sequence in zip(best, X, strict=True):
        assert [score for score, _ in few] == sorted((score for score, _ in few), reverse=True)
        assert len(few) == min(4, 3 ** len(sequence))
        assert len({tuple(labels) for _, labels in few}) == len(few)
    assert tagger.predict_one(X[0]) == tagger.predict(X)[0]


@pytest.mark.parametrize("transition_features", [None, "all", ("w=", "end=s"), ()])
def test_scores_are_those_of_the_weights(transition_features):
    X, y = corpus(20)
    tagger = SequenceTagger(transition_features=transition_features, random_state=0).fit(X, y)
    place = {name: j for j, name in enumerate(tagger.feature_names_)}
    edge = {}
    if transition_features is not None:
        prefixes = "" if transition_features == "all" else transition_features
        edge = {name: j for j, name in enumerate(tagger.transition_feature_names_)}
        assert list(edge) == [name for name in place if name.startswith(prefixes)]
        assert tagger.transition_coef_.shape == (3, 3, len(edge))
    for score, labels in tagger.decode(X[:1], n_best=5)[0]:
        codes = [LABELS.index(label) for label in labels]
        by_hand = sum(tagger.transitions_[a, b] for a, b in itertools.pairwise(codes)) + sum(
            tagger.coef_[code, [place[name] for name in token]].sum() + tagger.intercept_[code]
            for code, token in zip(codes, X[0], strict=True)
        )
        for (a, b), token in zip(itertools.pairwise(codes), X[0][1:], strict=True):
            by_hand += sum(tagger.transition_coef_[a, b, edge[name]] for name in token if name in edge)
        assert score == pytest.approx(by_hand)


def test_dicts_lists_and_matrices_of_the_same_features_agree():
    X, y = corpus()
    by_list = SequenceTagger().partial_fit(X, y)
    by_dict = SequenceTagger().partial_fit([[dict.fromkeys(token, 1.0) for token in row] for row in X], y)
    by_category = SequenceTagger().partial_fit(
        [[dict(name.split("=", 1) for name in token) for token in row] for row in X], y
    )
    by_value = SequenceTagger(separator=":").partial_fit(
        [[[f"{name}:1" for name in token] for token in row] for row in X], y
    )
    assert state(by_list) == state(by_dict) == state(by_category) == state(by_value)
    place = {name: j for j, name in enumerate(by_list.feature_names_)}
    matrix = np.zeros((sum(map(len, X)), len(place)))
    for i, token in enumerate(token for row in X for token in row):
        matrix[i, [place[name] for name in token]] = 1
    lengths = [len(row) for row in X]
    for given in (matrix, matrix.astype(np.float32), sparse.csr_array(matrix), sparse.coo_array(matrix)):
        for labels in (y, [label for row in y for label in row]):
            by_matrix = SequenceTagger().partial_fit(given, labels, lengths=lengths)
            np.testing.assert_array_equal(by_matrix.coef_, by_list.coef_)
            assert by_matrix.totals_ == by_list.totals_
        assert by_matrix.predict(given, lengths=lengths) == by_list.predict(X)
        assert by_matrix.score(given, y, lengths=lengths) == by_list.score(X, y)
        assert not hasattr(by_matrix, "feature_names_")


@pytest.mark.parametrize("cut", [1, 7, 60])
@pytest.mark.parametrize("average", [False, True, 20])
@pytest.mark.parametrize("transition_features", [None, ("end=", "before=t")])
def test_how_a_stream_is_cut_makes_no_difference(cut, average, transition_features):
    X, y = corpus()
    y[40] = ["OTHER"] * len(y[40])
    options = {"average": average, "transition_features": transition_features}
    whole = SequenceTagger(**options).partial_fit(X, y)
    parts = SequenceTagger(**options)
    for start in range(0, 60, cut):
        parts.partial_fit(X[start : start + cut], y[start : start + cut])
    assert state(parts) == state(whole)
    one_by_one = SequenceTagger(**options)
    for row, labels in zip(X, y, strict=True):
        one_by_one.learn_one(row, labels)
    assert state(one_by_one) == state(whole)


def test_transition_features_learn_what_emissions_cannot():
    """A feature determines whether the label changes, and no feature determines the label itself."""
    random = np.random.default_rng(0)
    changes = random.integers(2, size=(200, 8))
    y = [["AB"[k] for k in np.cumsum(row) % 2] for row in changes]
    X = [
        [["turn"] if change and i else ["start=" + labels[0]] if not i else [] for i, change in enumerate(row)]
        for row, labels in zip(changes, y, strict=True)
    ]
    assert SequenceTagger(random_state=0).fit(X, y).score(X, y) < 0.9
    tagger = SequenceTagger(transition_features=("turn",), random_state=0).fit(X, y)
    assert tagger.score(X, y) == 1
    assert tagger.transition_feature_names_ == ["turn"]
    stay, change = tagger.transition_coef_[0, 0, 0], tagger.transition_coef_[0, 1, 0]
    assert stay < 0 < change


def test_a_matrix_may_have_transition_features():
    X, y = corpus()
    by_name = SequenceTagger(transition_features="all").partial_fit(X, y)
    place = {name: j for j, name in enumerate(by_name.feature_names_)}
    matrix = np.zeros((sum(map(len, X)), len(place)))
    for i, token in enumerate(token for row in X for token in row):
        matrix[i, [place[name] for name in token]] = 1
    lengths = [len(row) for row in X]
    by_matrix = SequenceTagger(transition_features="all").partial_fit(matrix, y, lengths=lengths)
    np.testing.assert_array_equal(by_matrix.transition_coef_, by_name.transition_coef_)
    assert by_matrix.predict(matrix, lengths=lengths) == by_name.predict(X)
    assert not hasattr(by_matrix, "transition_feature_names_")


def test_features_of_refused_calls_are_not_transition_features():
    """The index that a refused call gave to one name may be given to another."""
    tagger = SequenceTagger(transition_features=("t",)).partial_fit([[["a"], ["t1"], ["b"]]], [["X", "Y", "X"]])
    twin = copy.deepcopy(tagger)
    with pytest.raises(ValueError, match="all strings or all integers"):
        tagger.partial_fit([[["t2"], ["t3"], ["t4"]]], [["X", "Y", 3]])
    for each in (tagger, twin):
        each.partial_fit([[["c"], ["d"], ["t5"], ["a"], ["t1"]]], [["Y", "X", "Y", "Y", "X"]])
    assert state(tagger) == state(twin)
    assert tagger.transition_feature_names_ == ["t1", "t5"]
    tagger.set_params(transition_features="all").partial_fit([[["e"], ["t6"]]], [["X", "Y"]])
    assert tagger.transition_feature_names_ == ["t1", "t5", "t6"]


def test_late_labels_are_learned_from_their_first_occurrence():
    X, y = corpus()
    tagger = SequenceTagger().partial_fit(X[:10], [["NOUN"] * len(row) for row in y[:10]])
    assert tagger.classes_.tolist() == ["NOUN"]
    assert tagger.predict(X) == [["NOUN"] * len(row) for row in y]
    tagger.partial_fit(X, y).partial_fit(X, y)
    assert tagger.classes_.tolist() == LABELS
    assert tagger.score(X, y) > 0.9


def test_labels_may_be_given_before_they_are_seen():
    X, y = corpus(5)
    tagger = SequenceTagger().partial_fit(X, y, classes=["PUNCT", *LABELS])
    assert tagger.classes_.tolist() == [*LABELS[:2], "PUNCT", "VERB"]


def test_labels_may_be_integers():
    X, y = corpus()
    codes = [[LABELS.index(label) for label in row] for row in y]
    tagger = SequenceTagger(random_state=0).fit(X, codes)
    assert tagger.classes_.tolist() == [0, 1, 2]
    named = SequenceTagger(random_state=0).fit(X, y)
    assert [[LABELS[code] for code in row] for row in tagger.predict(X)] == named.predict(X)
    assert SequenceTagger(random_state=0).fit(X, [np.array(row) for row in codes]).predict(X) == tagger.predict(X)


def test_fit_averages_unless_told_otherwise_and_partial_fit_does_not():
    X, y = corpus()
    options = {"shuffle": False, "max_iter": 1}
    assert state(SequenceTagger(**options).fit(X, y)) == state(SequenceTagger(**options, average=True).fit(X, y))
    assert state(SequenceTagger().partial_fit(X, y)) == state(SequenceTagger(average=False).partial_fit(X, y))
    plain, mean = SequenceTagger(**options, average=False).fit(X, y), SequenceTagger(**options).fit(X, y)
    assert plain.totals_ == mean.totals_
    assert not np.array_equal(plain.coef_, mean.coef_)


def test_fit_starts_from_scratch_and_warm_start_continues():
    X, y = corpus()
    tagger = SequenceTagger(random_state=0).fit(X[:30], y[:30])
    once = state(SequenceTagger(random_state=0).fit(X, y))
    assert state(tagger.fit(X, y)) == once
    rounds = tagger.totals_.rounds
    tagger.set_params(warm_start=True).fit(X, y)
    assert tagger.totals_.rounds == 2 * rounds


def test_empty_sequences_and_tokens_without_known_features():
    X, y = corpus()
    tagger = SequenceTagger(random_state=0).fit([*X, []], [*y, []])
    assert tagger.predict([[], X[0], []]) == [[], tagger.predict_one(X[0]), []]
    assert tagger.predict([]) == []
    assert len(tagger.predict_one([["never"], [], {"seen": 2.0}])) == 3
    assert tagger.decode([[]], n_best=3) == [[(0.0, [])]]
    n = tagger.n_features_in_
    tagger.predict([[["new"]]])
    assert tagger.n_features_in_ == n == len(tagger.feature_names_)


def test_one_token_sequences_are_plain_classification():
    X, y = corpus()
    tokens, labels = [[t] for row in X for t in row], [[a] for row in y for a in row]
    tagger = SequenceTagger(random_state=0).fit(tokens, labels)
    assert not tagger.transitions_.any()
    assert tagger.score(tokens, labels) > 0.95


def test_weight_zero_skips_a_sequence_and_weights_scale_c():
    X, y = corpus()
    weight = np.arange(60) % 3 > 0
    learned = [i for i in range(60) if weight[i]]
    skipped = SequenceTagger().partial_fit(
        X, [row if weight[i] else ["X"] * len(row) for i, row in enumerate(y)], sample_weight=weight
    )
    plain = SequenceTagger().partial_fit([X[i] for i in learned], [y[i] for i in learned])
    assert skipped.totals_ == plain.totals_
    assert skipped.classes_.tolist() == plain.classes_.tolist()
    assert skipped.predict(X) == plain.predict(X)
    heavy = SequenceTagger(C=0.01).partial_fit(X, y, sample_weight=[3.0] * 60)
    assert state(heavy) == state(SequenceTagger(C=0.03).partial_fit(X, y))


def test_label_cost_by_label_and_by_pair_agree():
    X, y = corpus()
    by_label = SequenceTagger(label_cost={"VERB": 3.0}).partial_fit(X, y, classes=LABELS)
    matrix = 1 - np.eye(3)
    matrix[2] *= 3
    by_pair = SequenceTagger(label_cost=matrix).partial_fit(X, y, classes=LABELS)
    assert state(by_label) == state(by_pair)
    assert by_label.totals_.cost > SequenceTagger().partial_fit(X, y, classes=LABELS).totals_.cost


def test_weights_of_a_label_come_heaviest_first():
    X, y = corpus()
    tagger = SequenceTagger(random_state=0).fit(X, y)
    weights = tagger.weights("DET")
    assert list(map(abs, weights.values())) == sorted(map(abs, weights.values()), reverse=True)
    assert 0 not in weights.values()
    assert tagger.weights("DET", top=2) == dict(list(weights.items())[:2])
    place = tagger.feature_names_.index(next(iter(weights)))
    assert tagger.coef_[0, place] == next(iter(weights.values()))


def test_clones_are_untrained_with_the_same_parameters():
    tagger = SequenceTagger(C=0.5, label_cost={"A": 2.0}).fit(*corpus())
    assert clone(tagger).get_params() == tagger.get_params()
    assert not hasattr(clone(tagger), "classes_")


def test_nothing_works_before_learning():
    tagger = SequenceTagger()
    for call in (tagger.predict, tagger.decode):
        with pytest.raises(Exception, match="not fitted"):
            call([])
    for name in ("coef_", "transitions_", "totals_", "feature_names_"):
        assert not hasattr(tagger, name)


def late_labels(n=40):
    """Return sentences, nearly all of which have a new label."""
    rng = np.random.default_rng(1)
    X = [[[f"w{w}", f"p{w % 3}"] for w in rng.integers(12, size=rng.integers(1, 5))] for _ in range(n)]
    return X, [[f"L{(i * int(token[0][1:])) % 23}" for token in row] for i, row in enumerate(X)]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"average": True},
        {"update": "max_loss"},
        {"cost": "squared_hamming", "update": "max_loss"},
        {"transition_features": "all"},
        {"C": [0.1, 1.0]},
        {"loss": "squared_hinge", "intercept_scaling": 1.0},
    ],
    ids=str,
)
def test_new_labels_of_one_call_are_learned_as_one_by_one(parameters):
    X, y = late_labels()
    at_once, one_by_one = SequenceTagger(**parameters).partial_fit(X, y), SequenceTagger(**parameters)
    for row, labels in zip(X, y, strict=True):
        one_by_one.partial_fit([row], [labels])
    assert at_once.classes_.tolist() == one_by_one.classes_.tolist()
    assert state(at_once) == state(one_by_one)
    assert at_once.predict(X) == one_by_one.predict(X)


def test_weights_are_copied_once_for_all_new_labels_of_a_call(monkeypatch):
    """They were copied for each sentence with a new label: 600 labels took ten times as long as learning."""
    X, y = late_labels()
    copies = []
    add_labels = Chain.add_labels
    monkeypatch.setattr(Chain, "add_labels", lambda self, *places: copies.append(places) or add_labels(self, *places))
    SequenceTagger().partial_fit(X, y)
    assert len(copies) == 1


@pytest.mark.parametrize("stop_at", [1, 2, 5, 11])
def test_an_interrupt_keeps_the_labels_so_far(monkeypatch, stop_at):
    X, y = late_labels()
    whole, calls = SequenceTagger(), []
    learn = Learner.learn

    def interrupted(self, *args, **kwargs):
        calls.append(self)
        if len(calls) == stop_at:
            raise KeyboardInterrupt
        return learn(self, *args, **kwargs)

    monkeypatch.setattr(Learner, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        whole.partial_fit(X, y)
    monkeypatch.undo()
    n = whole.totals_.rounds if stop_at > 1 else 0
    assert (n > 0) == (stop_at > 1)
    part = SequenceTagger()
    if n:
        assert state(whole) == state(part.partial_fit(X[:n], y[:n]))
    assert state(whole.partial_fit(X[n:], y[n:])) == state(SequenceTagger().partial_fit(X, y))
