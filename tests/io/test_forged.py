"""Forged files, with wrong content and right checksums, are refused or give a harmless model."""

import copy
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onmargin
from onmargin import ModelFileError
from onmargin._core.geometries.chain import Paths
from onmargin.io.model_file import from_bytes, to_bytes
from tests.examples import examples
from tests.io.forging import CASES, is_loaded, number_of, peak, put_together, taken_apart

# Memory that loading a forged file may take, in addition to what the tests use.
MEMORY = 2**29
SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return the path of the files that hypothesis generates, one after the other."""
    return tmp_path_factory.mktemp("forged") / "model.safetensors"


# A division by zero, which numbers of a forged file may lead to, is reported by a core that is built to check.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("case", CASES, ids=str)
@examples(20)
@given(seed=SEEDS)
def test_random_changes_are_harmless(case, path, seed):
    before = peak()
    is_loaded(case, seed, path)
    assert peak() < before + MEMORY


@pytest.mark.parametrize("sizes", [(2**31, 3, 0), (2, 2**31, 0), (2, 3, 2**31), (2, 3, 2**62)])
def test_sizes_have_indices_of_32_bits(sizes):
    """The padded length of 2**62 columns overflowed."""
    *size, spare = sizes
    with pytest.raises(ValueError, match=f"from [01] to {2**31 - 1}; got {max(sizes)}"):
        Paths(*size, np.float64, spare=spare)


def test_files_that_are_rewritten_unchanged_are_loaded(path):
    for k, case in enumerate(CASES):
        path.write_bytes(put_together(*taken_apart(k)))
        assert onmargin.load(path, parameters=getattr(case, "given", {})) is not None


def forged(name, change):
    """Return a file of the model whose name starts with `name`, with changed description and arrays."""
    found = next(k for k, case in enumerate(CASES) if re.match(name, str(case)))
    document, arrays = copy.deepcopy(taken_apart(found))
    change(document, arrays)
    return put_together(document, arrays)


def labels(*more):
    """Add a label, in a list or in an array."""

    def change(document, arrays):
        known, counts, *_ = labels_of(document)
        if isinstance(known, list):
            known.extend(more)
        else:
            arrays[known["array"]] = np.append(arrays[known["array"]], more)
        arrays[counts["array"]] = np.append(arrays[counts["array"]], [0.0] * len(more))

    return change


def part(document):
    """Return the description of the learner of a model."""
    return document["state"]["_model"]["part"]["arguments"][0]["part"]


def put(*places):
    """Change a value of the learner."""
    *route, last, value = places

    def change(document, arrays):
        found = part(document)
        for place in route:
            found = found[place]
        found[last] = value

    return change


GEOMETRY = "arguments", 2, "part"


def without_tasks(document, arrays):
    task = part(document)["arguments"][0]["part"]
    task["arguments"][0] = {"tuple": []}


def names_in_any_order(document, arrays):
    ends = arrays["state._names.ends"]
    ends[:] = ends[::-1]


def no_model(document, arrays):
    del document["state"]["_model"]
    for name in [name for name in arrays if name.startswith("state._model")]:
        del arrays[name]


def other_random_state(document, arrays):
    arrays["key"] = np.zeros(624, np.uint32)
    state = {"key": "key", "pos": 2**30, "has_gauss": 0, "gauss": 0.0}
    document["parameters"]["random_state"] = {"random_state": state}


def labels_of(document):
    """Return the arguments of the labels of a model."""
    return document["state"]["_model"]["part"]["arguments"][3]["part"]["arguments"]


def wide_items(document, arrays):
    arrays.pop(labels_of(document)[0]["array"])
    items = {"dtype": "<U268435456", "shape": [3], "items": ["a", "b", "c"]}
    labels_of(document)[0] = {"items": items}


def used_twice(document, arrays):
    document["state"]["n_iter_"] = dict(labels_of(document)[0])


def not_used(document, arrays):
    arrays["more"] = np.zeros(3)


def many_steps(document, arrays):
    step = {"part": {"kind": "Step", "arguments": [], "settings": {}, "state": None}}
    steps = {"kind": "Steps", "arguments": [{"tuple": [step] * 2000}], "settings": {}, "state": None}
    part(document)["arguments"][1] = {"part": steps}


def single_precision(document, arrays):
    document["parameters"]["features"] = {
        "estimator": {"class": "RecordFeatures", "parameters": {"dtype": "float32"}, "state": {}}
    }


STREAM = "PassiveAggressiveClassifier-[a-z_]+-default$"  # of examples of any kind
CLASSIFIER = "PassiveAggressiveClassifier-average=True-float"
FORGERIES = {
    "classes of a classifier": (CLASSIFIER, labels(7, 8), "is not what its parameters make for 5 labels"),
    "classes of AROW": ("AROWClassifier-default-float", labels(7), "for 4 labels"),
    "classes of a stream": (STREAM, labels("zz"), "is not what its parameters make for . labels"),
    "labels of a ranker": ("LabelRanker-default-float", labels(9), "for 4 labels"),
    "classes that are not sorted": (CLASSIFIER, labels(-1), "labels must be sorted, each named once"),
    "names": ("SequenceTagger-default", names_in_any_order, "the ends of names must rise"),
    "labels without a model": (STREAM, no_model, "nothing was learned, but"),
    "no tasks": (
        "AutoClassifier-default-float",
        without_tasks,
        "the number of models side by side must be from 1 to 1000; got 0",
    ),
    "many steps": (CLASSIFIER, many_steps, "the number of models side by side must be from 1 to 1000; got 2000"),
    "position of random numbers": (CLASSIFIER, other_random_state, "pos must be a whole number from 0 to 624"),
    "long items": (CLASSIFIER, wide_items, "items of type '<U268435456' are much shorter"),
    "array used twice": (CLASSIFIER, used_twice, "used twice"),
    "array not used": (CLASSIFIER, not_used, "arrays that do not belong to the model: more"),
    "no columns": (CLASSIFIER, put(*GEOMETRY, "settings", "n_columns", 0), "n_columns must be a whole number from 1"),
    "features": (CLASSIFIER, put(*GEOMETRY, "settings", "n_features", 2**30), "more memory than a model"),
    "geometry": (CLASSIFIER, put(*GEOMETRY, "kind", "Paths"), "transitions"),
    "task in the place of a step": (CLASSIFIER, put("kind", "WindowLearner"), "WindowLearner"),
    "type of weights": (STREAM, single_precision, "asks for another type"),
}


@pytest.mark.parametrize(("name", "change", "reason"), FORGERIES.values(), ids=FORGERIES)
def test_errors_name_what_does_not_fit(path, name, change, reason):
    before = peak()
    content = forged(name, change)
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=reason):
        onmargin.load(path)
    with pytest.raises(ModelFileError, match=reason):
        from_bytes(content)
    assert peak() < before + MEMORY


def test_task_and_step_follow_the_parameters_of_the_file(path):
    """Parameters that changed after the last call take effect with the next one, or when the model is loaded."""
    case = next(case for case in CASES if str(case).startswith(CLASSIFIER))
    model, X = case.half_way(), case.half(1)[0]
    onmargin.save(model.set_params(strategy="ovr", update="max"), path)
    twin = onmargin.load(path)
    assert type(twin._learner.task).__name__ == "OneVsRest"
    assert twin.predict(X).tolist() == model.predict(X).tolist()


@pytest.fixture(scope="module")
def small():
    return to_bytes(onmargin.GradientDescentRegressor().partial_fit([[1.0, 2.0]], [1.0]))


def test_arrays_beyond_the_end_are_refused(small):
    for content in (small + b"\0", small[:-1], small[:9], small[:8], b"", b"\xff" * 8 + small[8:]):
        with pytest.raises(ModelFileError):
            from_bytes(content)


@pytest.mark.parametrize("change", [(0, 8), (8, 0), (0, -8), (-8, 0), (8, 8), (0, 10**9), (0, 0.5), (0, None)])
def test_invalid_offsets_are_refused(small, change):
    """Arrays must neither overlap, nor have gaps, nor lie outside of the file."""
    size = int.from_bytes(small[:8], "little")
    header = json.loads(small[8 : 8 + size])
    for name in [name for name in header if name != "__metadata__"]:
        moved = copy.deepcopy(header)
        ends = moved[name]["data_offsets"]
        ends[:] = [
            end if more == 0 else None if more is None else end + more for end, more in zip(ends, change, strict=True)
        ]
        text = json.dumps(moved, separators=(",", ":")).encode()
        with pytest.raises(ModelFileError):
            from_bytes(len(text).to_bytes(8, "little") + text + small[8 + size :])


@pytest.mark.parametrize("case", CASES, ids=str)
@examples(20)
@given(st.data())
def test_numbers_that_are_not_finite_are_refused(case, path, data):
    document, arrays = copy.deepcopy(taken_apart(number_of(case)))
    floats = sorted(name for name, array in arrays.items() if array.dtype.kind == "f" and array.size)
    if not floats:
        return
    name = data.draw(st.sampled_from(floats))
    arrays[name] = arrays[name].copy()
    # C of a step may be infinite.
    number = data.draw(st.sampled_from([np.nan, np.inf])) if name.endswith("weights") else np.nan
    arrays[name].flat[data.draw(st.integers(0, arrays[name].size - 1))] = number
    path.write_bytes(put_together(document, arrays))
    with pytest.raises(ModelFileError, match="finite"):
        onmargin.load(path, parameters=getattr(case, "given", {}))


def single_numbers(found):
    """Yield the single floating-point numbers of a description, each as a container and a key; no numbers of arrays."""
    for key in range(len(found)) if isinstance(found, list) else list(found):
        value = found[key]
        if key == "mostly":
            continue
        if type(value) is float or (isinstance(value, dict) and set(value) == {"float"}):
            yield found, key
        elif isinstance(value, list | dict):
            yield from single_numbers(value)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("number", ["nan", "-inf"])
def test_single_numbers_that_are_not_finite_are_refused(case, path, number):
    """The intercept coordinate and the first target are NaN as long as they are not known."""
    plain, arrays = taken_apart(number_of(case))
    for k in range(len([*single_numbers(plain["state"])])):
        document = copy.deepcopy(plain)
        holder, key = [*single_numbers(document["state"])][k]
        if number == "nan" and key in {"bias", "origin"}:
            continue
        holder[key] = {"float": number}
        path.write_bytes(put_together(document, arrays))
        with pytest.raises(ModelFileError):
            onmargin.load(path, parameters=getattr(case, "given", {}))


@pytest.mark.parametrize(
    ("name", "place", "number", "reason"),
    [
        ("weights", 0, 2.0, "weights must be at most 1"),
        ("weights", 0, -0.5, "weights must be finite and at least 0"),
        ("recent", (0, 0), 1e300, "recent must have numbers of labels up to 3"),
        ("recent", (0, 0), -(2.0**63), "recent must have numbers of labels up to 3"),
    ],
)
def test_votes_that_no_learner_has_are_refused(path, name, place, number, reason):
    """Logarithms of larger weights, and numbers of labels, were converted to integers that cannot hold them."""

    def change(document, arrays):
        found = f"state._model.0.0.{name}"
        arrays[found] = arrays[found].copy()
        arrays[found][place] = number

    path.write_bytes(forged("AutoClassifier-default-float64", change))
    with pytest.raises(ModelFileError, match=reason):
        onmargin.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("rounds", -1), ("mistakes", 2**63 - 1), ("updates", 0.5), ("loss", -1.0), ("max_squared_norm", -1.0)),
        *(("squared_loss", {"float": "nan"}), ("cost", {"float": "inf"}), ("dual_value", {"float": "-inf"})),
    ],
)
def test_totals_that_no_learner_has_are_refused(path, name, value):
    def change(document, arrays):
        waiting = [document["state"]]
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict) and "squared_loss" in one:
                one[name] = value
                return
            waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else []
        raise AssertionError("there are no totals")

    path.write_bytes(forged("PassiveAggressiveClassifier-default", change))
    with pytest.raises(ModelFileError, match=name):
        onmargin.load(path)


@pytest.mark.parametrize("name", ["factors", "squares", "sums", "bins", "best_squares"])
def test_calibrations_that_no_learner_has_are_refused(path, name):
    def change(document, arrays):
        (found,) = (key for key in arrays if key.endswith(f"calibration.{name}"))
        arrays[found] = np.full_like(arrays[found], -1.0)

    path.write_bytes(forged("PassiveAggressiveClassifier-default", change))
    with pytest.raises(ModelFileError):
        onmargin.load(path)
