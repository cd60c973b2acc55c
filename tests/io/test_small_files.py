"""Arrays in which most numbers are the same, and names, take little room in model files, and come back bit for bit."""

import copy

import numpy as np
import pytest
from scipy.sparse import random_array

import onmargin
from onmargin import ModelFileError, PassiveAggressiveClassifier, stream
from onmargin.io._values import Reader, Writer, _expanded, _squeezed
from onmargin.io.model_file import from_bytes, to_bytes
from tests.io.forging import model_file, put_together

RANDOM = np.random.default_rng(0)


def there_and_back(array):
    writer = Writer()
    content = writer.encode(array, "state.a")
    return content, sum(part.nbytes for part in writer.arrays.values()), Reader(writer.arrays.pop).decode(content)


@pytest.mark.parametrize("shape", [(8192,), (3, 4000), (20_000, 1)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint16])
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_one_number_with_exceptions(shape, dtype, number, order):
    array = np.full(shape, number, dtype, order=order)
    places = RANDOM.integers(array.size, size=array.size // 10)
    array.flat[places] = RANDOM.integers(0, 1000, len(places))
    content, size, back = there_and_back(array)
    assert list(content) == ["mostly"]
    assert size < array.nbytes
    np.testing.assert_array_equal(back, array, strict=True)


def test_negative_zeros_and_infinities_are_kept():
    array = np.zeros(10_000)
    array[:3] = -0.0, np.inf, -np.inf
    back = there_and_back(array)[2]
    assert np.signbit(back[0])
    assert not np.signbit(back[4:]).any()
    assert back[1:3].tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize("array", [RANDOM.standard_normal(10_000), np.zeros(8191)], ids=["varied", "small"])
def test_other_arrays_are_stored_as_they_are(array):
    assert list(there_and_back(array)[0]) == ["array"]


def test_bytes_of_names_are_compressed():
    text = np.frombuffer("".join(f"word={k}" for k in range(5000)).encode(), np.uint8)
    content, size, back = there_and_back(text)
    assert list(content) == ["zlib"]
    assert size < len(text) / 2
    np.testing.assert_array_equal(back, text, strict=True)


def sparse_model():
    X = random_array((60, 30_000), density=0.002, format="csr", rng=0)
    return PassiveAggressiveClassifier(average=True).partial_fit(X, np.arange(60) % 3), X


def test_models_continue_bit_for_bit():
    model, X = sparse_model()
    data = to_bytes(model)
    assert len(data) < 0.2 * (model._learner.geometry.weights.nbytes + model._learner.geometry.lag.nbytes)
    again = from_bytes(data)
    assert to_bytes(again) == data
    for each in (model, again):
        each.partial_fit(X[::-1], np.arange(60) % 3)
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_names_of_streams_come_back():
    model = stream.PassiveAggressiveClassifier()
    for k in range(300):
        model.learn_one({f"feature {k} {i} ä": 1.0 for i in range(20)}, "ab"[k % 2])
    assert from_bytes(to_bytes(model)).weights("a") == model.weights("a")


def forged(change):
    """Return a file of the sparse model, after a change of the description of its weights and of its arrays."""
    model, _ = sparse_model()
    writer = Writer()
    document = {"schema": 1, "version": "1", **writer.describe(model)}
    arrays = dict(writer.arrays)
    weights = document["state"]["_model"]["part"]["arguments"][0]["part"]["arguments"][2]["part"]["state"]["dict"][
        "weights"
    ]
    change(weights["mostly"], arrays)
    return put_together(document, arrays)


def change_gap(at, gap):
    def change(content, arrays):
        gaps = _expanded(arrays[content["gaps"]], np.dtype(np.uint32), content["count"])
        gaps[at] = gap
        arrays[content["gaps"]] = _squeezed(gaps)

    return change


def hold_nan(content, arrays):
    others = _expanded(arrays[content["others"]], np.dtype(np.float64), content["count"])
    others[0] = np.nan
    arrays[content["others"]] = _squeezed(others)


def lengthen(content, arrays):
    content["shape"] = [3, 30_000_000_000]


def shorten(content, arrays):
    content["count"] -= 1


def have_too_many(content, arrays):
    content["count"] = 3 * 30_000 // 2 + 1


def cut(content, arrays):
    arrays[content["others"]] = arrays[content["others"]][:-1].copy()


def use_another_type(content, arrays):
    content["number"] = {"scalar": ["float32", 0.0]}


def be_unknown(content, arrays):
    content["number"] = {"scalar": ["float64", {"float": "nan"}]}


def test_unchanged_files_are_read():
    assert from_bytes(forged(lambda content, arrays: None)).predict(sparse_model()[1]).shape == (60,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_gap(1, 0), "must rise"),
        (change_gap(1, 3 * 30_000), "must rise"),
        (change_gap(-1, 3 * 30_000 - 1), "do not fit"),
        (hold_nan, "not finite"),
        (lengthen, "more memory"),
        (shorten, "do not have the size"),
        (have_too_many, "count must be"),
        (cut, "do not have the size"),
        (use_another_type, "do not have the size"),
        (be_unknown, "not finite"),
    ],
)
def test_inconsistent_arrays_are_refused(change, message):
    with pytest.raises(ModelFileError, match=message):
        from_bytes(forged(change))


@pytest.mark.parametrize("size", [0, 10, 2**40])
def test_compressed_bytes_have_the_size_that_is_said(size):
    writer = Writer()
    content = copy.deepcopy(writer.encode(np.zeros(20_000, np.uint8), "state.text"))
    content["zlib"]["size"] = size
    with pytest.raises(ValueError, match=r"do not have the size|more memory"), model_file.MemoryLimit(2**20):
        Reader(writer.arrays.pop).decode(content)


def test_a_file_has_room_for_the_memory_that_loading_takes():
    model = PassiveAggressiveClassifier().partial_fit(
        random_array((9, 2_000_000), density=1e-5, format="csr", rng=0), [0, 1, 2] * 3
    )
    data = to_bytes(model)
    dense = model._learner.geometry.weights.nbytes
    assert dense / 25 < len(data) < dense / 15
    assert to_bytes(from_bytes(data)) == data


def test_the_same_file_is_read_from_disk(tmp_path):
    model, X = sparse_model()
    onmargin.save(model, tmp_path / "m")
    np.testing.assert_array_equal(onmargin.load(tmp_path / "m").predict(X), model.predict(X))
