"""The algorithms in plain NumPy: the readable specification, and what the tests hold the compiled core to.

A task is a function of the scores and the target that gives half-spaces; a step is a function that says how far to go
along each; `play` is the round. Weights are features by columns, and an intercept is a feature: `with_intercept`
appends it.

>>> import numpy as np
>>> from onmargin.reference import binary, play
>>> run = play(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1, -1]), binary)
>>> run.weights[:, 0]
array([ 0., -1.])
"""

from onmargin.reference.additive import (
    Link,
    aggressive,
    balanced,
    bounded,
    dual_ascent,
    dual_ascent_kernel,
    dual_ascent_regression,
    entropic,
    fixed,
    optimal,
    play_additive,
    pnorm,
    proportional,
)
from onmargin.reference.calibration import Calibration, calibrate
from onmargin.reference.change import adaptive_window
from onmargin.reference.hedge import Hedged, adahedge, several, tempered, units_of_c, vote
from onmargin.reference.kernel import (
    Expansion,
    forgetron,
    oldest,
    play_kernel,
    projection,
    smallest,
    uniclass_kernel,
)
from onmargin.reference.mixing import mix_epochs, mixed, mixed_gaussians
from onmargin.reference.ridge import RidgeRun, fourier, levels, ridge, ridge_regret_bound
from onmargin.reference.rounds import Run, play, with_intercept
from onmargin.reference.scaling import running_scale, running_standardization, sizes, standardized_entries
from onmargin.reference.second_order import (
    Adaptive,
    Confidence,
    GradientAdaptive,
    MetricRun,
    Normalized,
    arow,
    in_metric,
    nherd,
    play_metric,
    projected,
    scw,
)
from onmargin.reference.sequences import (
    additive_rival,
    hamming_rival,
    path_features,
    play_sequences,
    predicted_rival,
    viterbi,
)
from onmargin.reference.simultaneous import conopt, conproj, simopt, simperc, simproj, simultaneous, sopopo
from onmargin.reference.step import constant, descent, pa, pa1, pa2, target_loss
from onmargin.reference.structured import structured
from onmargin.reference.task import (
    HalfSpace,
    binary,
    cost_sensitive,
    label_pairs,
    label_ranking,
    log_loss,
    multiclass,
    one_vs_rest,
    regression,
    rivals,
    softmax,
    with_margins,
)
from onmargin.reference.trials import (
    block,
    each_part,
    even,
    even_mistakes,
    joint,
    largest,
    ordinal_trial,
    play_additive_trials,
    play_trials,
    priced,
)
from onmargin.reference.uniclass import Ball, simplex_uniclass, uniclass

__all__ = [
    "Adaptive",
    "Ball",
    "Calibration",
    "Confidence",
    "Expansion",
    "GradientAdaptive",
    "HalfSpace",
    "Hedged",
    "Link",
    "MetricRun",
    "Normalized",
    "RidgeRun",
    "Run",
    "adahedge",
    "adaptive_window",
    "additive_rival",
    "aggressive",
    "arow",
    "balanced",
    "binary",
    "block",
    "bounded",
    "calibrate",
    "conopt",
    "conproj",
    "constant",
    "cost_sensitive",
    "descent",
    "dual_ascent",
    "dual_ascent_kernel",
    "dual_ascent_regression",
    "each_part",
    "entropic",
    "even",
    "even_mistakes",
    "fixed",
    "forgetron",
    "fourier",
    "hamming_rival",
    "in_metric",
    "joint",
    "label_pairs",
    "label_ranking",
    "largest",
    "levels",
    "log_loss",
    "mix_epochs",
    "mixed",
    "mixed_gaussians",
    "multiclass",
    "nherd",
    "oldest",
    "one_vs_rest",
    "optimal",
    "ordinal_trial",
    "pa",
    "pa1",
    "pa2",
    "path_features",
    "play",
    "play_additive",
    "play_additive_trials",
    "play_kernel",
    "play_metric",
    "play_sequences",
    "play_trials",
    "pnorm",
    "predicted_rival",
    "priced",
    "projected",
    "projection",
    "proportional",
    "regression",
    "ridge",
    "ridge_regret_bound",
    "rivals",
    "running_scale",
    "running_standardization",
    "scw",
    "several",
    "simopt",
    "simperc",
    "simplex_uniclass",
    "simproj",
    "simultaneous",
    "sizes",
    "smallest",
    "softmax",
    "sopopo",
    "standardized_entries",
    "structured",
    "target_loss",
    "tempered",
    "uniclass",
    "uniclass_kernel",
    "units_of_c",
    "viterbi",
    "vote",
    "with_intercept",
    "with_margins",
]
