"""Data as it is handed over: frames, paths, and dicts of linked frames."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ._errors import DataError, Diagnostic, EnvironmentFault

NativeSource: TypeAlias = tuple[str | None, list[tuple[str, Any]], bool]


@runtime_checkable
class ArrowStream(Protocol):
    """A frame that hands itself over as Arrow: polars, pyarrow, duckdb, pandas, and many others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@runtime_checkable
class ArrowArray(Protocol):
    """A single batch of rows."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


Frame: TypeAlias = ArrowStream | ArrowArray
"""A frame of any library that speaks Arrow."""

Data: TypeAlias = Frame | str | os.PathLike[str] | Mapping[str, Frame]
"""What can be handed over: a frame, a path, or linked frames by the names of their tables."""


def _error(message: str, name: str, help: str, path: str | None = None) -> DataError:
    place = f"{name}: {path}" if path else name
    text = f"error: {message}\n --> {place}\n help: {help}"
    found = Diagnostic(severity="error", message=message, source=name, path=path, help=help, text=text)
    return DataError([found])


def _of_pandas(frame: Any, name: str) -> Any:
    """A frame of pandas without its index, which is no data unless somebody makes it a column."""
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice) > 0:
        raise _error("there are two columns of this name", name, "rename one of them", str(twice[0]))
    try:
        import pyarrow as pa
    except ImportError:
        raise EnvironmentFault("pandas hands its frames over through pyarrow: install pyarrow") from None
    columns = []
    for column in frame.columns:
        try:
            columns.append(pa.array(frame[column], from_pandas=True))
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, ValueError, OverflowError):
            # What pyarrow says quotes values.
            message = "the column holds values of several types, or of one that Arrow lacks"
            help = "convert it to one type, such as text with .astype('string')"
            raise _error(message, name, help, str(column)) from None
    if not columns:
        return pa.table({})
    flat = [c.combine_chunks() if isinstance(c, pa.ChunkedArray) and c.num_chunks != 1 else c for c in columns]
    return pa.table(flat, names=[str(column) for column in frame.columns])


def _frame(frame: object, name: str) -> Any:
    kind = type(frame)
    if kind.__module__.split(".")[0] == "pandas" and hasattr(frame, "columns"):
        return _of_pandas(frame, name)
    if isinstance(frame, (ArrowStream, ArrowArray)):
        return frame
    if kind.__name__ == "LazyFrame":
        raise _error("a lazy frame holds no rows yet", name, "collect it first")
    message = f"a {kind.__name__} is no frame"
    raise _error(message, name, "hand over a frame of pandas, polars, pyarrow or duckdb, a path, or a dict of frames")


def native(data: object) -> NativeSource:
    """Data as the native half takes it."""
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data), [], False
    if isinstance(data, Mapping):
        if not data:
            raise _error("the dict holds no frame", "frames", "hand over one frame per table")
        return None, [(str(name), _frame(frame, str(name))) for name, frame in data.items()], True
    return None, [("frame", _frame(data, "frame"))], False
