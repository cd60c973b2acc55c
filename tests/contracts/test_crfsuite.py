"""Programs for python-crfsuite and sklearn-crfsuite run after a change of the import."""

import warnings

import pytest
from sklearn.base import clone

import onmargin
from onmargin.crfsuite import CRF, ItemSequence, Tagger, Trainer

SENTENCES = [
    ("the dog barks", "D N V"),
    ("a cat sees the dog", "D N V D N"),
    ("dogs bark", "N V"),
    ("the cat sleeps", "D N V"),
]


def features(sentence):
    words = sentence.split()
    return [[f"w={word}", f"end={word[-1]}", *([] if i else ["BOS"])] for i, word in enumerate(words)]


X = [features(sentence) for sentence, _ in SENTENCES]
Y = [labels.split() for _, labels in SENTENCES]


def trained(path, *arguments, **options):
    trainer = Trainer(*arguments, **{"verbose": False} | options)
    for xseq, yseq in zip(X, Y, strict=True):
        trainer.append(xseq, yseq)
    trainer.train(str(path))
    return Tagger().open(str(path))


def test_a_trainer_writes_what_a_tagger_opens(tmp_path):
    tagger = trained(tmp_path / "m", "pa", {"c": 0.5, "max_iterations": 5})
    alone = onmargin.SequenceTagger(C=0.5, max_iter=5, average=True, random_state=0).fit(X, Y)
    assert [tagger.tag(xseq) for xseq in X] == alone.predict(X)
    assert tagger.labels() == ["D", "N", "V"]
    tagger.set(ItemSequence(X[0]))
    assert tagger.tag() == Y[0]
    total = sum(tagger.marginal(label, 1) for label in tagger.labels())
    assert total == pytest.approx(1)
    assert 0 < tagger.probability(Y[0]) <= tagger.marginal("N", 1) <= 1
    info = tagger.info()
    assert info.transitions["D", "N"] > info.transitions["N", "D"]
    assert info.state_features["w=the", "D"] > 0
    assert set(info.labels) == {"D", "N", "V"}
    assert "BOS" in info.attributes
    with open(tmp_path / "m", "rb") as file:
        assert Tagger().open_inmemory(file.read()).tag(X[1]) == Y[1]
    tagger.close()
    with pytest.raises(ValueError, match="call open first"):
        tagger.tag(X[0])


def test_models_continue_to_learn(tmp_path):
    tagger = trained(tmp_path / "m", "pa").tagger
    for _ in range(3):
        tagger.learn_one(features("oh dogs"), ["I", "N"])
    assert tagger.predict_one(features("oh dogs")) == ["I", "N"]


@pytest.mark.parametrize(
    ("algorithm", "given", "expected"),
    [
        ("pa", {}, {"C": 1.0, "average": True, "loss": "hinge", "update": "prediction"}),
        ("pa", {"type": 0, "c": 2.0}, {"C": float("inf")}),
        ("pa", {"c": 2.0, "type": 2, "averaging": False}, {"C": 2.0, "loss": "squared_hinge", "average": False}),
        ("passive-aggressive", {"error_sensitive": True, "epsilon": 0.0}, {}),
        ("ap", {"max_iterations": 7}, {"update": "perceptron", "max_iter": 7, "average": True}),
        ("averaged-perceptron", {"feature.possible_transitions": True, "feature.minfreq": 0}, {}),
    ],
)
def test_parameters_have_their_counterparts(tmp_path, algorithm, given, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tagger = trained(tmp_path / "m", algorithm, given).tagger
    assert {name: tagger.get_params()[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("algorithm", "given", "unused"),
    [
        ("lbfgs", {"c1": 0.1, "max_iterations": 50, "feature.possible_transitions": True}, "c1=0.1, max_iterations=50"),
        ("pa", {"feature.minfreq": 2, "error_sensitive": False}, "feature.minfreq=2, error_sensitive=False"),
        ("pa", {"feature.possible_transitions": False}, "feature.possible_transitions=False"),
        ("arow", {"variance": 2.0}, "variance=2.0"),
    ],
)
def test_parameters_without_counterpart_cause_a_warning(tmp_path, algorithm, given, unused):
    with pytest.warns(UserWarning, match=f"parameters without effect: {unused}$") as found:
        tagger = trained(tmp_path / "m", algorithm, given)
    (warning,) = found
    assert str(warning.message).startswith(f"algorithm='{algorithm}' has no counterpart") == (algorithm != "pa")
    assert warning.filename == __file__
    assert tagger.tag(X[0]) == Y[0]


def test_parameters_of_a_trainer():
    trainer = Trainer("pa", verbose=False)
    trainer.set("c", 3.0)
    assert trainer.get("c") == 3.0
    assert trainer.get_params() | {"c": 1.0} == Trainer("pa").get_params()
    with pytest.raises(ValueError, match="pa has no parameter 'c1'"):
        trainer.set("c1", 1)
    with pytest.raises(ValueError, match="pa has no parameter 'c1'"):
        trainer.get("c1")
    with pytest.raises(ValueError, match="algorithm must be one of"):
        trainer.select("svm")
    with pytest.raises(ValueError, match="type must be 'crf1d'"):
        trainer.select("pa", "tree")
    with pytest.raises(ValueError, match="one label per item, 3; got 1"):
        trainer.append(X[0], ["D"])
    with pytest.raises(ValueError, match="nothing to train on"):
        trainer.train("unused")


def test_a_group_is_held_out(tmp_path):
    trainer = Trainer("pa", verbose=False)
    for k, (xseq, yseq) in enumerate(zip(X, Y, strict=True)):
        trainer.append(xseq, yseq, group=k)
    trainer.train(tmp_path / "m", holdout=2)
    held_out = Tagger().open(tmp_path / "m")
    assert "w=bark" not in held_out.info().attributes
    assert held_out.tagger.temperature_ != trained(tmp_path / "n", "pa").tagger.temperature_


def test_a_crf_for_scikit_learn(tmp_path):
    crf = CRF(algorithm="pa", c=0.5, max_iterations=5, all_possible_transitions=True, model_filename=tmp_path / "m")
    assert clone(crf).get_params() == crf.get_params()
    assert crf.fit(X, Y, X_dev=X[:1], y_dev=Y[:1]).predict(X) == trained(
        tmp_path / "n", "pa", {"c": 0.5, "max_iterations": 5}
    ).tagger.predict(X)
    assert crf.predict_single(X[0]) == crf.predict(X)[0] == Tagger().open(tmp_path / "m").tag(X[0])
    assert crf.score(X, Y) == 1
    assert crf.classes_ == ["D", "N", "V"]
    (marginals,) = crf.predict_marginals(X[:1])
    assert marginals == crf.predict_marginals_single(X[0])
    assert [max(item, key=item.get) for item in marginals] == Y[0]
    assert crf.transition_features_["D", "N"] > 0
    assert crf.state_features_["w=the", "D"] > 0
    assert "w=the" in crf.attributes_
    for _ in range(3):
        crf.partial_fit([features("oh dogs")], [["I", "N"]])
    assert crf.predict_single(features("oh dogs")) == ["I", "N"]


def test_a_crf_warns_and_refuses():
    with pytest.warns(UserWarning, match=r"without effect: c1=0.1, c2=0.1, max_iterations=100$"):
        CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True).fit(X, Y)
    with pytest.warns(UserWarning, match="without effect: keep_tempfiles=True"):
        CRF(algorithm="pa", keep_tempfiles=True).fit(X, Y)
    with pytest.raises(ValueError, match="trainer_cls must be None"):
        CRF(trainer_cls=Trainer).fit(X, Y)
    with pytest.raises(ValueError, match="given together"):
        CRF(algorithm="pa").fit(X, Y, X_dev=X)


def test_other_models_are_refused(tmp_path):
    onmargin.save(onmargin.PassiveAggressiveClassifier(), tmp_path / "m")
    with pytest.raises(ValueError, match="must have a SequenceTagger; got a PassiveAggressiveClassifier"):
        Tagger().open(tmp_path / "m")
