"""What comes back: objects that show themselves in one line, in a notebook, and as dicts."""

from __future__ import annotations

import html
import json
import os
import shutil
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from . import _native
from ._errors import Diagnostic, EnvironmentFault, PolicyError, Violated
from ._policy import Policy
from ._settings import Settings
from ._source import Data, native

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Attack", "Look", "Loss", "Publication", "Sweep", "Verdict"]


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of figures as HTML."""

    def line(cells: Sequence[object], tag: str) -> str:
        shown = ("" if cell is None else f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells)
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in shown) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _figures(loss: dict[str, Any]) -> dict[str, float]:
    said = loss.get("figures", {}).items()
    return {key: float(figure["value"]) for key, figure in said if figure.get("value") is not None}


class _Found:
    """A result that was found, and how it shows itself."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found

    def to_dict(self) -> dict[str, Any]:
        """Everything, as the command line gives it with ``--json``."""
        return json.loads(json.dumps(self._found))  # type: ignore[no-any-return]


class Look(_Found):
    """What :func:`bosket.inspect` found: no values of the data, unless they were asked for."""

    def __init__(self, found: dict[str, Any], policy: str) -> None:
        super().__init__(found)
        self._policy = policy

    @property
    def records(self) -> int:
        """How many people there are."""
        return int(self._found["records"])

    @property
    def attributes(self) -> list[dict[str, Any]]:
        """Per attribute its path, type, counts, the role that it may have, and why."""
        return list(self._found["attributes"])

    def draft(self) -> Policy:
        """A policy to begin with. Look through its roles: nobody but you knows what others may know."""
        return Policy(self._policy)

    def __repr__(self) -> str:
        return f"Look({_count(self.records, 'record')}, {_count(len(self.attributes), 'attribute')})"

    def _repr_html_(self) -> str:
        keys = ("path", "type", "present", "distinct", "uniqueness", "role", "reason")
        rows = [[attribute.get(key) for key in keys] for attribute in self.attributes]
        return f"<p>{html.escape(repr(self))}</p>" + _table(keys, rows)


class Verdict(_Found):
    """Whether a publication keeps its promise; true if it does."""

    def __init__(self, found: dict[str, Any]) -> None:
        super().__init__(found["found"])
        self._holds = found["holds"] is True
        self.sentence: str | None = found["sentence"]
        """What is promised; nothing where nothing is claimed."""
        self.sentences: list[str] = found["sentences"] or []
        """The same, a sentence per attacker, and what holds for all of them."""
        self.witness: dict[str, Any] | None = found["witness"]
        """The smallest knowledge that breaks the promise."""
        self._html: str = found["html"]

    def __bool__(self) -> bool:
        return self._holds

    def require(self) -> None:
        """Raises :class:`bosket.Violated` unless the promise is kept."""
        if self._holds:
            return
        message = f"VIOLATED: {self.sentence or 'the publication is not as it should be'}"
        help = "do not hand it out"
        text = f"error: {message}\n help: {help}"
        raise Violated([Diagnostic(severity="error", message=message, help=help, text=text)])

    def __repr__(self) -> str:
        return f"Verdict({'HOLDS' if self._holds else 'VIOLATED'}: {self.sentence or 'nothing is claimed'})"

    def _repr_html_(self) -> str:
        return self._html


class Attack(_Found):
    """Whom somebody finds who knows a few values of a person, before and after."""

    @property
    def before(self) -> dict[str, Any]:
        """The risk in the private data."""
        return dict(self._found["before"])

    @property
    def after(self) -> dict[str, Any] | None:
        """The risk in the publication, if one was given."""
        after = self._found.get("after")
        return None if after is None else dict(after)

    @staticmethod
    def _points(side: dict[str, Any] | None) -> list[dict[str, Any]]:
        return list((side or {}).get("points") or [])

    def __repr__(self) -> str:
        after = "no publication" if self.after is None else "before and after"
        return f"Attack({_count(len(self._points(self.before)), 'attacker')}, {after})"

    def _repr_html_(self) -> str:
        keys = ("m", "n", "prosecutor", "marketer", "unique")

        def value(found: Any) -> object:
            return found.get("value") if isinstance(found, dict) else found

        rows = [
            [name, *(value(point.get(key)) for key in keys)]
            for name, side in (("before", self.before), ("after", self.after))
            for point in self._points(side)
        ]
        return f"<p>{html.escape(repr(self))}</p>" + _table(("data", *keys), rows)


class Loss(_Found):
    """What a publication lost, by every metric that applies."""

    @property
    def figures(self) -> dict[str, float]:
        """The metrics by name."""
        return _figures(self._found)

    def __repr__(self) -> str:
        return f"Loss({', '.join(f'{key}={value:.4g}' for key, value in self.figures.items())})"

    def _repr_html_(self) -> str:
        about = {key: said.get("about") for key, said in self._found["figures"].items()}
        return _table(("metric", "value", "meaning"), [(key, value, about[key]) for key, value in self.figures.items()])


class Sweep(Sequence[dict[str, Any]]):
    """The same data under several guarantees; a row per setting."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: Any) -> Any:
        return self._rows[at]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def to_dict(self) -> list[dict[str, Any]]:
        """Everything, as the command line gives it with ``--json``."""
        return json.loads(json.dumps(self._rows))  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        reached = sum(bool(row["reached"]) for row in self._rows)
        return f"Sweep({_count(len(self), 'setting')}, {reached:,} reached)"

    def _repr_html_(self) -> str:
        settings = sorted({key for row in self._rows for key in row["setting"]})
        figures = [_figures(row.get("loss", {})) for row in self._rows]
        losses = sorted({key for found in figures for key in found})
        rows = [
            [*(row["setting"].get(key) for key in settings), row["reached"], *(found.get(key) for key in losses)]
            for row, found in zip(self._rows, figures)
        ]
        return f"<p>{html.escape(repr(self))}</p>" + _table([*settings, "reached", *losses], rows)


class Publication(_Found):
    """A publication that was verified from its written bytes.

    It is a frame itself: ``pl.DataFrame(pub)``, ``pa.table(pub)`` and ``duckdb.sql("from pub")`` work. Its bytes lie in a
    private folder that is gone with it; :meth:`write` puts them, and the certificate, where they are wanted.
    """

    def __init__(self, found: dict[str, Any], policy: Policy, data: Data, folder: str) -> None:
        super().__init__(found["release"])
        # What the machine's own folders are called is nobody's business.
        self._found["published"] = os.path.basename(found["path"])
        self._found["certificate"] = None
        self._policy, self._data = policy, data
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._path = Path(found["path"])
        self._certificate = None if found["certificate"] is None else Path(found["certificate"])
        self.sentence: str | None = found["sentence"]
        """What is promised; nothing where nothing is claimed."""
        self.sentences: list[str] = found["sentences"] or []
        """The same, a sentence per attacker, and what holds for all of them."""
        self._html: str = found["html"]
        self._tables: list[tuple[str, Any]] | None = None

    @property
    def records(self) -> int:
        """How many records are published."""
        return int(self._found["records"])

    @property
    def certificate(self) -> dict[str, Any]:
        """The certificate, as JSON says it."""
        if self._certificate is None:
            return {}
        return json.loads(self._certificate.read_text("utf-8"))  # type: ignore[no-any-return]

    def _shown(self) -> list[tuple[str, Any]]:
        if self._tables is None:
            self._tables = _native.tables(self._policy._native(), str(self._path))
        return self._tables

    @property
    def tables(self) -> dict[str, Any]:
        """The tables of a publication that has several, by name; each is a frame like the publication of one."""
        return dict(self._shown())

    def _one(self, table: str | None) -> Any:
        tables = self.tables
        if table is not None:
            if table not in tables:
                raise PolicyError(f"the publication has no table `{table}`; it has {', '.join(tables)}")
            return tables[table]
        if len(tables) != 1:
            raise PolicyError(f"the publication has several tables: name one of {', '.join(tables)}")
        return next(iter(tables.values()))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._one(None).__arrow_c_stream__(requested_schema)

    def to_arrow(self, table: str | None = None) -> pyarrow.Table:
        """The publication, or a table of it, as a table of pyarrow."""
        return cast("pyarrow.Table", _library("pyarrow").table(self._one(table)))

    def to_polars(self, table: str | None = None) -> polars.DataFrame:
        """The publication, or a table of it, as a frame of polars."""
        return cast("polars.DataFrame", _library("polars").DataFrame(self._one(table)))

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """The publication, or a table of it, as a frame of pandas."""
        _library("pandas")
        return cast("pandas.DataFrame", _library("pyarrow").table(self._one(table)).to_pandas())

    def write(self, path: str | os.PathLike[str], *, certificate: bool = True, force: bool = False) -> Path:
        """Writes the publication, and its certificate beside it.

        The bytes are those that were verified, and those that the command line writes. Under a name of another format the
        records are converted, and there is no certificate for them: it is about bytes.
        """
        to = Path(path)
        if self._path.is_dir():
            _free(to, force)
            if to.exists():
                shutil.rmtree(to)
            _copied(lambda: shutil.copytree(self._path, to))
            own = self._certificate
        elif _format(to) in (None, _format(self._path)):
            _free(to, force)
            _copied(lambda: shutil.copyfile(self._path, to))
            for other in self._path.parent.iterdir():
                # A schema that belongs to the document.
                if other not in (self._path, self._certificate):
                    _copied(lambda other=other: shutil.copyfile(other, to.with_name(other.name)))
            own = self._certificate
        else:
            _native.convert(str(self._path), str(to), force)
            own = None
        if certificate and own is not None:
            beside = to.with_name(f"{to.name}.certificate.json")
            _free(beside, force)
            _copied(lambda: shutil.copyfile(own, beside))
        return to

    def report(
        self, path: str | os.PathLike[str], *, internal: bool = False, force: bool = False, **settings: Any
    ) -> Path:
        """Writes the HTML report for whoever answers for the publication. An internal one shows private records."""
        told = Settings.of(settings)
        certificate = None if self._certificate is None else str(self._certificate)
        out = (os.fspath(path), internal, force)
        source = native(self._data)
        _native.report(self._policy._native(), source, str(self._path), certificate, out, told.native())
        return Path(path)

    def __repr__(self) -> str:
        return f"Publication({_count(self.records, 'record')}: {self.sentence or 'nothing is claimed'})"

    def _repr_html_(self) -> str:
        return self._html


def _library(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise EnvironmentFault(f"{name} is not installed") from None


def _format(path: Path) -> str | None:
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    return {"pq": "parquet", "jsonl": "ndjson"}.get(found := name.rpartition(".")[2], found) if "." in name else None


def _free(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise EnvironmentFault(f"{path} exists already; force=True replaces it")


def _copied(copy: Any) -> None:
    try:
        copy()
    except OSError as error:
        raise EnvironmentFault(f"cannot write: {error.strerror or error}") from error


def published(publication: object, policy: Policy | None, folder: str) -> str:
    """Where a publication lies; a frame is written to a folder first."""
    if isinstance(publication, Publication):
        return str(publication._path)
    path, frames, linked = native(publication)
    if path is not None:
        return path
    if linked:
        raise PolicyError("linked tables are verified from their files: name the folder that they were written to")
    given = None if policy is None else policy._native()
    return str(_native.write(given, frames[0][1], folder))
