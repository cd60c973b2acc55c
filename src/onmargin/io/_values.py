"""Exact encoding of values as JSON and arrays: decoded values are equal and of the same type, and no code is executed.

None, True, False, integers, strings, finite floats and lists are plain JSON. Any other value is an object with one
member, whose name is the name of a codec in the table below.
"""

import json
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from math import inf, isfinite, isnan, nan, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.restore import claim, whole
from onmargin._parts import Pieces, is_part, is_part_kind, parts, put_together, take_apart
from onmargin.models.model import Model

# The safetensors types that NumPy supports, with their NumPy names.
DTYPES = {
    "bool": "BOOL",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
}

# The modules whose public classes model files name, each after the prefix of its names in files.
PUBLIC_MODULES = (
    ("", "onmargin"),
    ("", "onmargin.features"),
    ("stream.", "onmargin.stream"),
    ("confidence.", "onmargin.confidence"),
    ("river.", "onmargin.river"),
)
# Arrays of fewer numbers are stored as they are.
SMALL = 1 << 13
# An array is stored as its most frequent number, and the others with their places, if these are at most one in RARE.
RARE = 2
# The level at which zlib compresses these: higher ones take several times as long for a few percent.
LEVEL = 1
_JSON_TYPES = {type(None), bool, int, str}
# How many characters shorter than the declared width of its type the items of an array may be.
SPARE_CHARACTERS = 4096


class UnsavableError(TypeError):
    """Error for a value that a model file cannot hold."""


def public_class(name: str) -> type | None:
    """Return the public model or transformer with this name, or None if there is none."""
    # Import only the modules that may define it.
    start = name[: name.find(".") + 1]
    for module in (import_module(module) for prefix, module in PUBLIC_MODULES if prefix == start):
        found = getattr(module, name[len(start) :], None) if name[len(start) :] in module.__all__ else None
        if isinstance(found, type) and hasattr(found, "_check_parameters"):
            return found
    return None


def public_name(kind: type) -> str | None:
    """Return the name of a class in model files, or None if files cannot contain it."""
    # Try the module that defines the class first, to avoid importing another module with the same name.
    loaded = (pair for pair in PUBLIC_MODULES if pair[1] in sys.modules)  # river need not be installed
    modules = sorted(loaded, key=lambda pair: -len(pair[1]) * _is_in(kind, pair[1]))
    names = (prefix + kind.__name__ for prefix, _ in modules)
    return next((name for name in names if public_class(name) is kind), None)


def _is_in(kind: type, module: str) -> bool:
    return f"{kind.__module__}.".startswith(f"{module}.")


@dataclass
class Writer:
    """Encoder of values; `arrays` are those found so far, `given` the parameters that a file cannot hold, by name.

    `unstored` is the number of bytes of arrays that the file does not contain.
    """

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    unstored: int = 0
    given: dict[str, Any] = field(default_factory=dict)

    def encode(self, value: Any, place: str) -> Any:
        """Return the JSON of a value at a place such as "state.classes_"."""
        kind: Any = type(value)
        if kind in _JSON_TYPES or (kind is float and isfinite(value)):
            return value
        if kind is list:
            return self.listed(value, place)
        for name, given in self.given.items():
            if value is given:
                return {"given": name}
        # The most common kinds of values, and then those that each codec must be asked for.
        if kind is tuple or kind is float:
            tag = kind.__name__
        elif is_part_kind(kind):
            tag = "part"
        elif kind is dict:
            tag = "dict" if set(map(type, value)) <= {str} else "pairs"
        elif kind is np.ndarray and value.dtype.kind in "biuf" and value.dtype.name in DTYPES:
            tag = (
                "array"
                if value.size < SMALL
                else "mostly"
                if _is_mostly(value)
                else "zlib"
                if _is_text(value)
                else "array"
            )
        else:
            tag = next((tag for tag, codec in CODECS.items() if codec.accepts(value)), "")
        if tag:
            return {tag: CODECS[tag].encode(self, value, place)}
        raise UnsavableError(
            f"{place} is a {type(value).__name__}, and a model file holds numbers, strings, arrays and what is made of "
            f"them only; got {value!r:.80}"
        )

    def listed(self, values: Iterable[Any], place: str) -> list[Any]:
        found = list(values)
        for k, value in enumerate(found):
            if type(value) not in _JSON_TYPES:
                found[k] = self.encode(value, f"{place}.{k}")
        return found

    def mapped(self, values: Mapping[str, Any], place: str) -> dict[str, Any]:
        found = dict(values)
        for name, value in values.items():
            if type(value) not in _JSON_TYPES:
                found[name] = self.encode(value, f"{place}.{name}")
        return found

    def add(self, array: NDArray[Any], place: str) -> str:
        """Add an array to the file under the name of its place."""
        while place in self.arrays:
            place += "+"
        self.arrays[place] = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)
        return place

    def describe(self, model: Any, place: str = "") -> dict[str, Any]:
        """Describe an estimator: its parameters, and all other attributes, which are its learned state."""
        model._check_parameters()
        if isinstance(learned := vars(model).get("_model"), Model):
            learned.check_fixed(model.plan())  # a model with changed fixed options could not be loaded
        values = model.get_params(deep=False)
        parameters = {}
        for name, value in sorted(values.items()):
            arrays = dict(self.arrays)
            try:
                parameters[name] = self.encode(value, f"{place}parameters.{name}")
            except UnsavableError:
                if place:
                    raise
                # For example functions. The user passes them again when loading the file.
                self.arrays, self.given[name] = arrays, value
                parameters[name] = {"given": name}
        state = {name: value for name, value in sorted(vars(model).items()) if name not in values}
        return {
            "class": public_name(type(model)),
            "parameters": parameters,
            "state": self.mapped(state, f"{place}state"),
        }


@dataclass
class Reader:
    """Decoder of values; `arrays` returns the file's arrays by name, `given` has the parameters not in the file."""

    arrays: Callable[[str], NDArray[Any]]
    given: Mapping[str, Any] = field(default_factory=dict)
    _parts: dict[str, type] = field(default_factory=dict)

    def part(self, name: str) -> type:
        """Return the class of a part by its name; parts of a model class are registered when it is imported."""
        if name not in self._parts:
            self._parts = parts()
        return self._parts[name]

    def decode(self, content: Any) -> Any:
        if isinstance(content, list):
            return [self.decode(item) for item in content]
        if not isinstance(content, dict):
            return content
        ((tag, inner),) = content.items()
        return CODECS[tag].decode(self, inner)

    def mapped(self, content: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.decode(value) for name, value in content.items()}

    def model(self, content: Mapping[str, Any]) -> Any:
        """Return the estimator described by `Writer.describe`, after its own parameter checks."""
        kind: Any = public_class(content["class"])
        if kind is None:
            raise ValueError(f"{content['class']!r} is not a public class of this version of onmargin")
        model = kind(**getattr(kind, "_values_before", {}) | self.mapped(content["parameters"]))
        model._check_parameters()
        state = self.mapped(content["state"])
        taken = sorted(name for name in state if hasattr(kind, name) or name in content["parameters"])
        if taken:
            raise ValueError(f"{', '.join(taken)} of {content['class']} are not learned")
        vars(model).update(state)
        if hasattr(kind, "_check_learned"):
            model._check_learned()
        elif state:
            raise ValueError(f"a {content['class']} learns nothing, but has {', '.join(sorted(state))}")
        return model


@dataclass(frozen=True)
class Codec:
    """Codec for one kind of value: a test for the kind, an encoder and a decoder."""

    accepts: Callable[[Any], bool]
    encode: Callable[[Writer, Any, str], Any]
    decode: Callable[[Reader, Any], Any]


def _is_array(value: Any, kinds: str) -> bool:
    return type(value) in (np.ndarray, np.memmap) and value.dtype.kind in kinds


def _is_text(array: NDArray[Any]) -> bool:
    """Return whether an array has the bytes of names, which zlib shortens to about a third."""
    return array.dtype == np.uint8 and array.ndim == 1


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers of an array in C order as integers, which tell -0.0 from 0.0."""
    return np.ascontiguousarray(array).reshape(-1).view(f"u{array.itemsize}")


def _most_frequent(bits: NDArray[Any]) -> Any:
    """Return the most frequent number of a sample."""
    numbers, counts = np.unique(bits[:: len(bits) // 1024], return_counts=True)
    return numbers[counts.argmax()]


def _is_mostly(array: NDArray[Any]) -> bool:
    """Return whether most numbers of an array are the same, as in weights of features that few classes have."""
    bits = _bits(array)
    return bool(array.itemsize > 1 and np.count_nonzero(bits != _most_frequent(bits)) <= len(bits) // RARE)


def _squeezed(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Return an array of numbers compressed by zlib, first bytes first: those of similar numbers are the same."""
    planes = np.ascontiguousarray(array.view(np.uint8).reshape(-1, array.itemsize).T)
    return np.frombuffer(zlib.compress(planes.data, LEVEL), np.uint8)


def _expanded(data: NDArray[Any], dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    """Return the array of `count` numbers that `_squeezed` compressed."""
    planes = np.frombuffer(_decompressed(data, count * dtype.itemsize), np.uint8).reshape(dtype.itemsize, count)
    return np.ascontiguousarray(planes.T).reshape(-1).view(dtype)


def _decompressed(data: NDArray[Any], size: int) -> bytes:
    """Return what zlib compressed, which must have this size."""
    stream = zlib.decompressobj()
    found = stream.decompress(data.data, size) if size else b""
    if len(found) != size or stream.decompress(stream.unconsumed_tail if size else data.data, 1) or not stream.eof:
        raise ValueError(f"compressed bytes do not have the size {size}")
    return found


def _encode_mostly(writer: Writer, array: NDArray[Any], place: str) -> dict[str, Any]:
    bits = _bits(array)
    base = _most_frequent(bits)
    differs = bits != base
    places = np.flatnonzero(differs)
    gaps = np.diff(places, prepend=0).astype(np.min_scalar_type(len(bits)))
    writer.unstored += array.nbytes
    return {
        "shape": list(array.shape),
        "number": writer.encode(np.array(base).view(array.dtype)[()], place),
        "count": len(places),
        "gaps": writer.add(_squeezed(gaps), f"{place}.gaps"),
        "others": writer.add(_squeezed(bits[differs]), f"{place}.others"),
    }


def _decode_mostly(reader: Reader, content: Mapping[str, Any]) -> NDArray[Any]:
    shape = [whole(length, "shape") for length in content["shape"]]
    size, number = prod(shape), reader.decode(content["number"])
    if not isinstance(number, np.number):
        raise ValueError(f"the most frequent number of an array is {number!r:.60}")
    claim(size * number.itemsize)
    count = whole(content["count"], "count", most=size // RARE)  # so that all takes a few times the memory of the array
    gaps = _expanded(reader.arrays(content["gaps"]), np.min_scalar_type(size), count)
    others = _expanded(reader.arrays(content["others"]), number.dtype, count)
    if np.isnan(number) or np.isnan(others).any():  # as in other arrays
        raise ValueError("an array has numbers that are not finite, which no learner makes")
    if not gaps[1:].all() or (gaps >= size).any():
        raise ValueError("the places of numbers must rise")
    places = np.cumsum(gaps, dtype=np.int64)
    if count and places[-1] >= size:
        raise ValueError(f"{count} places do not fit an array of shape {shape}")
    array = np.full(size, number)
    array[places] = others
    return array.reshape(shape)


def _encode_text(writer: Writer, array: NDArray[Any], place: str) -> dict[str, Any]:
    return {"size": len(array), "data": writer.add(np.frombuffer(zlib.compress(array.data), np.uint8), place)}


def _decode_text(reader: Reader, content: Mapping[str, Any]) -> NDArray[Any]:
    size = whole(content["size"], "size")
    claim(size)
    return np.frombuffer(_decompressed(reader.arrays(content["data"]), size), np.uint8)


def _decode_float(reader: Reader, content: str) -> float:
    return {"inf": inf, "-inf": -inf, "nan": nan}[content]


def _encode_items(writer: Writer, array: NDArray[Any], place: str) -> dict[str, Any]:
    return {
        "dtype": array.dtype.newbyteorder("<").str,
        "shape": list(array.shape),
        "items": writer.encode(array.ravel().tolist(), place),
    }


def _decode_items(reader: Reader, content: Mapping[str, Any]) -> NDArray[Any]:
    dtype = np.dtype(content["dtype"]).newbyteorder("=")
    if dtype.kind not in "OU":
        raise ValueError(f"items of type {content['dtype']!r}")
    items = reader.decode(content["items"])
    if dtype.kind == "U" and dtype.itemsize // 4 > max(map(len, items), default=0) + SPARE_CHARACTERS:
        raise ValueError(f"items of type {content['dtype']!r} are much shorter than that")
    claim(len(items) * dtype.itemsize)
    flat = np.empty(len(items), dtype)
    flat[:] = items
    return flat.reshape(content["shape"])


def _decode_scalar(reader: Reader, content: list[Any]) -> Any:
    name, value = content
    if name not in DTYPES and name != "str":
        raise ValueError(f"a scalar of type {name!r}")
    scalar = np.dtype(name).type(reader.decode(value))
    if not isinstance(scalar, np.generic):
        raise ValueError(f"a scalar {value!r:.60}")
    return scalar


def _is_csr(value: Any) -> bool:
    """Return whether a value is a CSR matrix, without importing scipy.sparse, which takes a quarter of a second."""
    sparse: Any = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(value) and value.format == "csr"


def _encode_csr(writer: Writer, matrix: Any, place: str) -> dict[str, Any]:
    from scipy import sparse

    names = ("data", "indices", "indptr")
    arrays = {name: writer.add(getattr(matrix, name), f"{place}.{name}") for name in names}
    return {**arrays, "shape": list(map(int, matrix.shape)), "matrix": isinstance(matrix, sparse.spmatrix)}


def _decode_csr(reader: Reader, content: Mapping[str, Any]) -> Any:
    from scipy import sparse

    data, indices, indptr = (reader.arrays(content[name]) for name in ("data", "indices", "indptr"))
    kind = sparse.csr_matrix if content["matrix"] else sparse.csr_array
    if {indices.dtype, indptr.dtype} - {np.dtype(np.int32), np.dtype(np.int64)}:
        raise ValueError(f"a sparse matrix with indices of {indices.dtype} and {indptr.dtype}")
    matrix = kind((data, indices, indptr), shape=tuple(content["shape"]))
    if indptr[-1] != len(indices):  # scipy does not check this
        raise ValueError(f"a sparse matrix of {indptr[-1]} numbers with {len(indices)} indices")
    matrix.check_format(full_check=True)
    matrix.indices, matrix.indptr = indices, indptr  # scipy narrows the index type where it can
    return matrix


def _is_random_state(value: Any) -> bool:
    """Return whether a value is a RandomState, without importing numpy.random (a tenth of the import time of NumPy)."""
    return "numpy.random" in sys.modules and type(value) is np.random.RandomState


def _encode_random(writer: Writer, random: Any, place: str) -> dict[str, Any]:
    state: Any = random.get_state(legacy=False)
    key, position = state["state"]["key"], state["state"]["pos"]
    return {
        "key": writer.add(key, f"{place}.key"),
        "pos": int(position),
        "has_gauss": state["has_gauss"],
        "gauss": state["gauss"],
    }


def _decode_random(reader: Reader, content: Mapping[str, Any]) -> Any:
    key = reader.arrays(content["key"])
    if key.shape != (624,) or key.dtype != np.uint32:
        raise ValueError(f"the key of a random state must be 624 numbers of 32 bits; got {key.dtype} of {key.shape}")
    position, gauss = whole(content["pos"], "pos", most=624), whole(content["has_gauss"], "has_gauss", most=1)
    random = np.random.RandomState()
    random.set_state(("MT19937", key, position, gauss, float(content["gauss"])))
    return random


def _encode_part(writer: Writer, part: Any, place: str) -> dict[str, Any]:
    pieces = take_apart(part)
    return {
        "kind": pieces.kind.__name__,
        "arguments": writer.listed(pieces.arguments, place) if pieces.arguments else [],
        "settings": writer.mapped(pieces.settings, place) if pieces.settings else {},
        "state": None if pieces.state is None else writer.encode(pieces.state, place),
    }


def _decode_part(reader: Reader, content: Mapping[str, Any]) -> Any:
    kind = reader.part(content["kind"])
    arguments, settings = tuple(map(reader.decode, content["arguments"])), reader.mapped(content["settings"])
    for name, value in (*enumerate(arguments), *settings.items()):
        for number in value if isinstance(value, tuple) else (value,):
            # Only an intercept coordinate may be unknown, before the first row.
            if isinstance(number, float) and not number > -inf and not (name == "bias" and isnan(number)):
                raise ValueError(f"{name!r} of {kind.__name__} must be a number above -inf; got {number}")
    return put_together(Pieces(kind, arguments, settings, reader.decode(content["state"])))


def _encode_pairs(writer: Writer, values: Mapping[Any, Any], place: str) -> list[Any]:
    pairs = [[writer.encode(key, place), writer.encode(value, f"{place}.{key}")] for key, value in values.items()]
    return sorted(pairs, key=lambda pair: json.dumps(pair[0], sort_keys=True))


CODECS: dict[str, Codec] = {
    # inf, -inf or nan, which JSON lacks
    "float": Codec(lambda v: type(v) is float, lambda w, v, at: repr(v), _decode_float),
    "tuple": Codec(
        lambda v: type(v) is tuple,
        Writer.listed,
        lambda r, content: tuple(r.decode(content)),
    ),
    "dict": Codec(
        lambda v: isinstance(v, Mapping) and all(type(key) is str for key in v),
        Writer.mapped,
        lambda r, content: r.mapped(content),
    ),
    "pairs": Codec(
        lambda v: isinstance(v, Mapping),
        _encode_pairs,
        lambda r, content: {r.decode(key): r.decode(value) for key, value in content},
    ),
    # a NumPy number or string
    "scalar": Codec(
        lambda v: isinstance(v, np.generic) and (v.dtype.name in DTYPES or type(v) is np.str_),
        lambda w, v, at: ["str" if type(v) is np.str_ else v.dtype.name, w.encode(v.item(), at)],
        _decode_scalar,
    ),
    "array": Codec(
        lambda v: _is_array(v, "biuf") and v.dtype.name in DTYPES,
        Writer.add,
        lambda r, content: r.arrays(content),
    ),
    # an array in which most numbers are the same, and one of bytes; the writer decides when
    "mostly": Codec(lambda v: False, _encode_mostly, _decode_mostly),
    "zlib": Codec(lambda v: False, _encode_text, _decode_text),
    # an array of strings or objects
    "items": Codec(lambda v: _is_array(v, "OU"), _encode_items, _decode_items),
    "csr": Codec(_is_csr, _encode_csr, _decode_csr),
    "random_state": Codec(
        lambda v: _is_random_state(v) and v.get_state(legacy=False)["bit_generator"] == "MT19937",
        _encode_random,
        _decode_random,
    ),
    "part": Codec(is_part, _encode_part, _decode_part),
    "estimator": Codec(
        lambda v: public_name(type(v)) is not None,
        lambda w, v, at: w.describe(v, f"{at}."),
        lambda r, content: r.model(content),
    ),
    # A parameter that is not in the file. The test is always false, because the writer finds them by identity.
    "given": Codec(lambda v: False, lambda w, v, at: None, lambda r, content: r.given[content]),
}
