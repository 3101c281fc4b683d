"""Arrays out of a pickled SMPL+H file without running it: NumPy, SciPy sparse and chumpy as inert parts (PHY-2).

A pickle is a program that may call anything it can name. Here the few names that body files hold stand for classes that
only keep what they are given. Any other name is refused, and nothing is imported or called.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from iwkit.errors import UsageError

Array = NDArray[Any]


class _Part:
    """What a call in the pickle would have made: its arguments and its state, kept as they are."""

    __slots__ = ("args", "state")
    args: tuple[Any, ...]
    state: Any

    def __new__(cls, *args: Any) -> _Part:
        part = super().__new__(cls)
        part.args, part.state = args, None
        return part

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Array(_Part):
    """`numpy.ndarray`, and what rebuilds one."""

    __slots__ = ()


class _Buffer(_Part):
    """A NumPy array over a buffer, as pickles of protocol 5 hold it."""

    __slots__ = ()


class _Dtype(_Part):
    __slots__ = ()


class _Encode(_Part):
    """Bytes as Python 3 writes them for Python 2: a text and the name of its encoding."""

    __slots__ = ()


class _Rebuild(_Part):
    """An object as protocols 0 and 1 hold it: its class, and a base that stays empty."""

    __slots__ = ()


class _Object(_Part):
    __slots__ = ()


class _Chumpy(_Part):
    """`Ch` with its values, or `Select`, which picks some of another one."""

    __slots__ = ()


class _Columns(_Part):
    __slots__ = ()


class _Rows(_Part):
    __slots__ = ()


_NAMES: Final[Mapping[str, type[_Part]]] = {
    **{f"numpy.{core}.multiarray._reconstruct": _Array for core in ("core", "_core")},
    **{f"numpy.{core}.numeric._frombuffer": _Buffer for core in ("core", "_core")},
    "numpy.ndarray": _Array,
    "numpy.dtype": _Dtype,
    "_codecs.encode": _Encode,
    "copy_reg._reconstructor": _Rebuild,
    "copyreg._reconstructor": _Rebuild,
    "__builtin__.object": _Object,
    "builtins.object": _Object,
    "chumpy.ch.Ch": _Chumpy,
    "chumpy.reordering.Select": _Chumpy,
    **{f"scipy.sparse.{module}.csc_matrix": _Columns for module in ("csc", "_csc")},
    **{f"scipy.sparse.{module}.csr_matrix": _Rows for module in ("csr", "_csr")},
}
"""All that a body file may name."""
_BROKEN: Final = (
    pickle.UnpicklingError,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    TypeError,
    ValueError,
)
"""What the C unpickler raises for a damaged file."""
_PLAIN: Final = re.compile(r"[fiu][1248]|b1")
_DEEPEST: Final = 8
_LARGEST: Final = 10**8
"""Numbers in a sparse matrix when it is filled in: more would be a damaged size."""


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type[_Part]:
        if (found := _NAMES.get(f"{module}.{name}")) is None:
            raise UsageError(f"it names {module}.{name}, which no SMPL+H file needs: it was not run")
        return found


def read_pickle(path: Path, wanted: Iterable[str]) -> dict[str, Array]:
    """The wanted arrays of a pickled SMPL+H file, those that it has; a sparse matrix is filled in.

    Raises:
        UsageError: no such file, no pickle, a damaged one, one that names anything else than arrays, or another kind
            of value.
    """
    try:
        return _arrays(path.read_bytes(), wanted)
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror or error}") from error
    except UsageError as error:
        raise UsageError(f"{path} can't be read: {error}") from error


def _arrays(content: bytes, wanted: Iterable[str]) -> dict[str, Array]:
    try:
        _scan(content)
        # Python 2 wrote these files: its byte strings come as Latin-1 text.
        data = _Reader(io.BytesIO(content), encoding="latin1").load()
    except _BROKEN as error:
        raise UsageError(f"it is no pickle, or a damaged one: {error or type(error).__name__}") from error
    if not isinstance(data, dict):
        raise UsageError(f"it holds a {type(data).__name__}, not a dictionary of arrays")
    found: dict[str, Array] = {}
    for key in wanted:
        if key in data:
            try:
                found[key] = _array(data[key])
            except UsageError as error:
                raise UsageError(f"{key}: {error}") from error
            except _BROKEN as error:
                raise UsageError(f"{key} is damaged: {error or type(error).__name__}") from error
    return found


def _scan(content: bytes) -> None:
    """Refuse a place in the memo beyond the file's own length: the unpickler would fill memory up to it."""
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and not 0 <= int(argument or 0) <= len(content):
            raise ValueError(f"{opcode.name} {argument}")


def _array(value: Any, depth: int = 0) -> Array:
    """The array that a part of the pickle stands for."""
    if depth > _DEEPEST:
        raise UsageError("it refers to itself")
    if isinstance(value, _Rebuild):
        kind = value.args[0] if value.args else None
        if not isinstance(kind, type) or not issubclass(kind, (_Chumpy, _Columns, _Rows)):
            raise UsageError("it holds no array")
        part = kind()
        part.state = value.state
        value = part
    if isinstance(value, _Chumpy):
        return _chumpy(value.state, depth)
    if isinstance(value, (_Columns, _Rows)):
        return _filled(value, depth)
    if isinstance(value, _Array):
        _, shape, dtype, by_columns, raw = value.state
        return _plain(shape, dtype, raw, "F" if by_columns else "C")
    if isinstance(value, _Buffer):
        raw, dtype, shape, order = value.args
        return _plain(shape, dtype, raw, order)
    if isinstance(value, (bool, int, float, list, tuple)):
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            return array
    raise UsageError(f"it holds no array but a {type(value).__name__.lstrip('_').lower()}")


def _plain(shape: Any, dtype: Any, raw: Any, order: Any) -> Array:
    """An array of numbers from its bytes."""
    if isinstance(raw, _Encode):
        raw = raw.args[0]
    if isinstance(raw, str):
        raw = raw.encode("latin1")
    if not isinstance(raw, (bytes, bytearray)) or order not in ("C", "F"):
        raise UsageError("it holds objects, not numbers")
    return np.frombuffer(raw, _dtype(dtype)).reshape(shape, order=order)


def _dtype(part: Any) -> np.dtype[Any]:
    """The type of an array's numbers."""
    code = part.args[0] if isinstance(part, _Dtype) and part.args else None
    if not isinstance(code, str) or not _PLAIN.fullmatch(code):
        raise UsageError(f"it holds {code or 'things'}, not numbers")
    order = part.state[1] if part.state else "="
    if order not in ("<", ">", "=", "|"):
        raise UsageError(f"it holds numbers in the byte order {order!r}")
    return np.dtype(order + code)


def _chumpy(state: Any, depth: int) -> Array:
    """The value of a chumpy object."""
    if isinstance(state, dict) and "x" in state:
        return _array(state["x"], depth + 1)
    if not isinstance(state, dict) or not {"a", "idxs"} <= state.keys():
        raise UsageError("it is a chumpy expression, not one that only holds numbers or picks some of them")
    picked = _array(state["a"], depth + 1).ravel()[_array(state["idxs"], depth + 1)]
    return picked.reshape(state.get("preferred_shape", picked.shape))


def _filled(matrix: _Part, depth: int) -> Array:
    """A sparse matrix as a full one."""
    state = matrix.state
    if not isinstance(state, dict):
        raise UsageError("it is a sparse matrix without content")
    rows, columns = state["_shape"]
    data, minor, starts = (_array(state[key], depth + 1) for key in ("data", "indices", "indptr"))
    if not 0 <= rows * columns <= _LARGEST:
        raise UsageError(f"it is a sparse matrix of {rows} times {columns}")
    lines, across = (columns, rows) if isinstance(matrix, _Columns) else (rows, columns)
    if len(starts) != lines + 1 or not len(data) == len(minor) == starts[-1] or (np.diff(starts) < 0).any():
        raise UsageError("it is a sparse matrix whose parts don't fit")
    if len(minor) and not 0 <= minor.min() <= minor.max() < across:
        raise UsageError("it is a sparse matrix with an index outside")
    full = np.zeros((lines, across))
    np.add.at(full, (np.repeat(np.arange(lines), np.diff(starts)), minor), data)
    return full.T if isinstance(matrix, _Columns) else full
