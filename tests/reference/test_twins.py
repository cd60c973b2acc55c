"""Every task, step and geometry of the core has a reference implementation in `onmargin.reference`."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

from onmargin import reference
from onmargin._core.geometries.geometry import Geometry
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/onmargin"

# Compiled classes, and the function or class of `onmargin.reference` that does the same.
TWINS = {
    # tasks
    "Binary": "binary",
    "Block": "block",
    "CostSensitive": "cost_sensitive",
    "Multiclass": "multiclass",
    "Indicators": "ridge",
    "OneVsRest": "one_vs_rest",
    "Ordinal": "ordinal_trial",
    "Ranking": "label_ranking",
    "Quantile": "quantile",
    "Regression": "regression",
    "RivalSequences": "rival_labelings",
    "Sequence": "play_sequences",
    "ExpertVote": "several",
    "SequenceVote": "vote",
    "Softmax": "softmax",
    "Structured": "structured",
    "Uniclass": "uniclass",
    # steps
    "Aggressive": "aggressive",
    "Confident": "scw",
    "Constant": "constant",
    "Even": "simproj",
    "EvenLineSearch": "even",
    "EvenPairs": "simproj",
    "Fixed": "fixed",
    "GramWindow": "dual_ascent",
    "Herding": "nherd",
    "EvenRowPairs": "simproj",
    "Joint": "joint",
    "JointRowPairs": "joint",
    "KernelWindow": "dual_ascent_kernel",
    "Largest": "largest",
    "LargestLineSearch": "largest",
    "LargestRowPair": "label_ranking",
    "Optimal": "optimal",
    "Projection": "pa1",
    "Projections": "several",  # each model is played alone
    "Proportional": "descent",
    "Regularized": "arow",
    "Residual": "ridge",
    "Separable": "simopt",
    "SeparableLineSearch": "separable",
    "SeparablePairs": "simopt",
    "SeparableRowPairs": "simopt",
    "Sopopo": "sopopo",
    "SopopoPairs": "sopopo_pairs",
    "Steps": "several",
    "TargetLoss": "target_loss",
    "TubeWindow": "dual_ascent_regression",
    "Window": "dual_ascent",
    # geometries
    "Adaptive": "Adaptive",
    "AdditiveBlocks": "play_additive_trials",
    "Balanced": "balanced",
    "Ball": "uniclass_kernel",
    "Blocks": "play_trials",
    "BoostedTrees": "boosted_trees",
    "Center": "uniclass",
    "Confidence": "Confidence",
    "EdgePaths": "path_features",
    "Entropic": "entropic",
    "Euclidean": "play",
    "Expansion": "play_kernel",
    "Featureless": "levels",
    "Ferns": "ferns",
    "Forest": "forest",
    "Forgetron": "forgetron",
    "Fourier": "fourier",
    "GradientAdaptive": "GradientAdaptive",
    "LabelChain": "label_chain",
    "Lagged": "lagged",
    "Neighbors": "neighbors",
    "Normalized": "Normalized",
    "Oldest": "oldest",
    "OldestBall": "oldest",
    "PNorm": "pnorm",
    "PackedColumns": "several",
    "Paths": "play_sequences",
    "Projected": "projection",
    "ProjectedBall": "projection",
    "Ranked": "log_odds_of_ranks",
    "Ridge": "ridge",
    "ExpertPaths": "vote",
    "SideBySide": "several",
    "SimplexCenter": "simplex_uniclass",
    "PNormCenter": "linked_uniclass",
    "Smallest": "smallest",
    "SmallestBall": "smallest",
    "Standardized": "running_standardization",
    "StandardizedEntries": "standardized_entries",
    "Thresholds": "ordinal_trial",
    "AsDouble": "ridge",
    "WithAverage": "Run",  # its `mean`
}


def compiled():
    """Return the public tasks, steps and geometries of the core, by name."""
    found = {}
    for source in sorted((PACKAGE / "_core").rglob("*.pyx")):
        module = import_module(".".join(source.relative_to(PACKAGE.parent).with_suffix("").parts))
        own = {name: kind for name, kind in vars(module).items() if getattr(kind, "__module__", "") == module.__name__}
        found |= {
            name: kind
            for name, kind in own.items()
            if isinstance(kind, type) and issubclass(kind, Task | Step | Geometry) and not name.startswith("_")
        }
    return found


CLASSES = compiled()


def called_outside():
    """Return the names that Python code outside the core imports from it and calls."""
    called = set()
    for path in PACKAGE.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        froms = [node for node in nodes if isinstance(node, ast.ImportFrom) and "onmargin._core" in (node.module or "")]
        imported = {alias.name for node in froms for alias in node.names}
        calls = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
        called |= imported & calls
    return called


CALLED = called_outside()


def is_base(name):
    """Return whether a class is a base: an interface, or a class with subclasses that is not constructed outside."""
    kind = CLASSES[name]
    return kind in {Task, Step, Geometry} or (bool(kind.__subclasses__()) and name not in CALLED)


def test_the_core_is_found():
    assert {"Binary", "Projection", "Euclidean"} < {name for name in CLASSES if not is_base(name)}
    assert {"Classes", "Scheme", "Columns"} < {name for name in CLASSES if is_base(name)}


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_class_has_a_twin(name):
    assert name in TWINS or is_base(name), f"{name} has no twin: write one in onmargin.reference and name it in TWINS"


@pytest.mark.parametrize("name", sorted(TWINS))
def test_twins_are_tested(name):
    """The twin is public, and a test uses it."""
    assert name in CLASSES, f"there is no compiled class {name}"
    twin = TWINS[name]
    assert twin in reference.__all__
    tests = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    used = re.compile(rf"reference\.{twin}\b|from onmargin\.reference import .*\b{twin}\b")
    assert any(used.search(path.read_text(encoding="utf-8")) for path in tests)
