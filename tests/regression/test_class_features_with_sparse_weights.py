"""ClassFeatureClassifier could not predict after `sparsify`: rows were scored with dense weights that were gone."""

import numpy as np

from onmargin import ClassFeatureClassifier


def test_class_features_predict_with_sparse_weights():
    X, y = np.random.default_rng(0).normal(size=(30, 3, 4)), np.arange(30) % 3
    model = ClassFeatureClassifier().partial_fit(X, y)
    scores, again = model.decision_function(X), ClassFeatureClassifier().partial_fit(X, y).partial_fit(X, y)
    np.testing.assert_allclose(model.sparsify().decision_function(X), scores, rtol=1e-12)
    assert model.partial_fit(X, y).coef_.tolist() == again.coef_.tolist()
