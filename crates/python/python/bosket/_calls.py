"""The functions of the package."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from . import _native
from ._policy import Policy
from ._results import Attack, Look, Loss, Publication, Sweep, Verdict, published
from ._settings import Settings
from ._source import Data, native

_LISTS = {"model": "privacy.model", "algorithm": "method.algorithm"}


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="bosket-")


def inspect(
    data: Data,
    *,
    format: str | None = None,
    record: str | None = None,
    separator: str | None = None,
    parent: Sequence[str] = (),
    preset: str | None = None,
    **settings: Any,
) -> Look:
    """Looks at data that no policy describes: what it holds, and which role each attribute may have.

    ``record`` is where the records are in a document, or the person table of linked frames; ``parent`` names foreign keys as
    ``TABLE.COLUMN``; ``preset`` is a standard whose roles are known, such as ``"omop"``.

    >>> import bosket as bk, pyarrow as pa
    >>> bk.inspect(pa.table({"age": [30, 31, 45], "city": ["Bonn", "Bonn", "Köln"]}))
    Look(3 records, 2 attributes)
    """
    told = Settings.of(settings)
    with _folder() as folder:
        reading = (format, record, separator, list(parent), preset)
        found = json.loads(_native.inspect(native(data), folder, reading, told.native()))
    return Look(found["found"], found["policy"])


def draft(data: Data, **options: Any) -> Policy:
    """A policy to begin with: :func:`inspect`, and its draft."""
    return inspect(data, **options).draft()


def anonymize(data: Data, policy: Policy, *, measure: bool = False, **settings: Any) -> Publication:
    """Makes a publication that keeps what the policy promises, or raises.

    It was read again from its bytes and verified before it is returned.

    >>> import bosket as bk, pyarrow as pa
    >>> frame = pa.table({"age": [30, 31, 45, 47], "illness": ["flu", "asthma", "flu", "burn"]})
    >>> policy = bk.Policy(model="k-anonymity", k=2, attributes={
    ...     "age": {"role": "quasi", "hierarchy": {"build": "interval", "min": 0, "max": 100, "widths": [10, 50]}},
    ...     "illness": "sensitive",
    ... })
    >>> pub = bk.anonymize(frame, policy)
    >>> pub.records
    4
    """
    told = Settings.of(settings)
    source = native(data)
    folder = tempfile.mkdtemp(prefix="bosket-")
    try:
        found = json.loads(_native.anonymize(policy._native(), source, folder, told.key, measure, told.native()))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Publication(found, policy, data, folder)


def verify(
    publication: Publication | Data,
    policy: Policy | None = None,
    *,
    certificate: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | None = None,
    foreign: bool = False,
    **settings: Any,
) -> Verdict:
    """Checks whether a publication keeps what a policy, or its certificate, promises.

    It is read from its bytes; of a frame these are written first. With ``key``, a public key or its file, the certificate
    must be signed with it, which is checked first. A publication that is not written as Bosket writes it is refused; with
    ``foreign``, how it is written is not looked at, and the verdict's JSON says so under ``not_looked_at``.

    >>> import bosket as bk, pyarrow as pa
    >>> policy = bk.Policy(model="k-anonymity", k=2, attributes={
    ...     "age": {"role": "quasi", "hierarchy": {"build": "interval", "min": 0, "max": 100, "widths": [10, 50]}},
    ... })
    >>> bool(bk.verify(pa.table({"age": [30, 31]}), policy))
    False
    """
    told = Settings.of(settings)
    if policy is None and certificate is None and isinstance(publication, Publication):
        policy = publication._policy
    with _folder() as folder:
        path = published(publication, policy, folder)
        given = None if policy is None else policy._native()
        named = None if certificate is None else os.fspath(certificate)
        signed = None if key is None else os.fspath(key)
        found = json.loads(_native.verify(path, given, named, signed, foreign, told.native()))
    return Verdict(found)


def export(
    publication: str | os.PathLike[str],
    form: Literal["croissant", "dcat"],
    *,
    certificate: str | os.PathLike[str],
    name: str | None = None,
    description: str | None = None,
    license: str | None = None,
    url: str | None = None,
    creator: str | None = None,
    date: str | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Metadata of a published file or folder for catalogues, as JSON-LD: Croissant 1.1 or DCAT-AP 3.

    The files are compared with the certificate first; no value of the data is in it.
    """
    if form not in ("croissant", "dcat"):
        raise ValueError(f"there is no form {form!r}: take croissant or dcat")
    told = Settings.of(settings)
    about = {"name": name, "description": description, "license": license, "url": url, "creator": creator, "date": date}
    said = [(key, text) for key, text in about.items() if text is not None]
    made = _native.export(os.fspath(publication), os.fspath(certificate), form, said, told.native())
    found: dict[str, Any] = json.loads(made)
    return found


def attack(
    data: Data,
    publication: Publication | Data | None,
    policy: Policy,
    *,
    m: Iterable[int] | None = None,
    n: Iterable[int] | None = None,
    budget: int | None = None,
    sample: int | None = None,
    **settings: Any,
) -> Attack:
    """Whom somebody finds who knows ``m`` values and ``n`` relations of a person, before and after."""
    told = Settings.of(settings)
    with _folder() as folder:
        path = None if publication is None else published(publication, policy, folder)
        strengths = (None if m is None else list(m), None if n is None else list(n), budget, sample)
        found = _native.attack(policy._native(), native(data), path, strengths, told.native())
    risks = json.loads(found)
    if path is not None and isinstance(publication, Publication):
        # What the machine's own folders are called is nobody's business.
        risks["after"]["data"] = os.path.basename(path)
    return Attack(risks)


def measure(data: Data, publication: Publication | Data, policy: Policy, **settings: Any) -> Loss:
    """What a publication lost, by every metric that applies."""
    told = Settings.of(settings)
    with _folder() as folder:
        path = published(publication, policy, folder)
        found = _native.measure(policy._native(), native(data), path, told.native())
    return Loss(json.loads(found))


def sweep(
    data: Data,
    policy: Policy,
    *,
    mining: bool = False,
    each: dict[str, Sequence[Any]] | None = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: bool = False,
    **lists: Sequence[Any],
) -> Sweep:
    """The same data under several guarantees: ``k=[2, 5, 10]``, ``m=[1, 2]``, ``model=[...]``; nothing is published.

    ``each`` takes any key of the policy by its full name.
    """
    told = Settings(threads=threads, memory=memory, progress=progress)
    named = {_LISTS.get(key, f"privacy.{key}"): values for key, values in lists.items()} | dict(each or {})
    given = [(key, [str(value) for value in values]) for key, values in named.items()]
    return Sweep(json.loads(_native.sweep(policy._native(), native(data), given, mining, told.native())))
