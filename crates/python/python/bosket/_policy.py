"""Policies: what each attribute is, and which guarantee is wanted."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from . import _native
from ._settings import Settings
from ._source import Data, native

NativePolicy: TypeAlias = tuple[str, str | None, list[str]]

_METHOD = ("algorithm", "time")


def _toml(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, os.PathLike):
        return json.dumps(os.fspath(value))
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    raise TypeError(f"a policy cannot hold a {type(value).__name__}")


class Policy:
    """What each attribute is, and which guarantee is wanted.

    From keywords, for frames:

    >>> import bosket as bk
    >>> policy = bk.Policy(model="k-anonymity", k=2, attributes={
    ...     "name": "identifying",
    ...     "age": {"role": "quasi", "hierarchy": {"build": "interval", "min": 0, "max": 100, "widths": [10, 50]}},
    ... })
    >>> policy
    Policy(model='k-anonymity', k=2, 2 attributes)

    Every other keyword is a key of ``[privacy]``, but for ``algorithm`` and ``time``, which are of ``[method]``.
    :meth:`load` takes a policy file, and ``text`` takes what one would say.
    """

    def __init__(
        self,
        text: str | None = None,
        *,
        attributes: Mapping[str, str | Mapping[str, Any]] | None = None,
        undeclared: str | None = None,
        seed: int | None = None,
        folder: str | os.PathLike[str] = "",
        **privacy: Any,
    ) -> None:
        if text is None:
            text = _written(attributes or {}, undeclared, seed, privacy)
        elif attributes is not None or undeclared is not None or seed is not None or privacy:
            raise TypeError("a policy is given as text or by keywords, not both")
        self._path = str(Path(folder) / "policy.toml")
        self._text: str | None = text
        self._sets: list[str] = []

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """The policy in a file; its hierarchies are found from there."""
        policy = cls("")
        policy._path, policy._text = os.fspath(path), None
        policy.check()
        return policy

    @property
    def text(self) -> str:
        """The policy as TOML."""
        return Path(self._path).read_text("utf-8") if self._text is None else self._text

    def with_(self, **sets: Any) -> Policy:
        """The same with other values, as ``--set`` of the command line gives them; dots are written ``__``.

        >>> import bosket as bk
        >>> policy = bk.Policy(model="k-anonymity", k=2, attributes={"name": "identifying"})
        >>> policy.with_(privacy__k=5)
        Policy(model='k-anonymity', k=5, 1 attribute)
        """
        policy = Policy.__new__(Policy)
        policy._path, policy._text = self._path, self._text
        written = {key.replace("__", "."): value for key, value in sets.items()}
        policy._sets = self._sets + [f"{key}={_set(value)}" for key, value in written.items()]
        return policy

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy to a file, for the command line or for people to read. What :meth:`with_` changed is not in it."""
        Path(path).write_text(self.text, "utf-8")

    def check(self, data: Data | None = None, **settings: Any) -> None:
        """Checks the policy, and data with it, as :func:`bosket.anonymize` would before it begins.

        Raises :class:`bosket.PolicyError` or :class:`bosket.DataError` with all that is wrong.
        """
        told = Settings.of(settings)
        with tempfile.TemporaryDirectory(prefix="bosket-") as folder:
            _native.check(self._native(), None if data is None else native(data), folder, told.key, told.native())

    def to_dict(self) -> dict[str, Any]:
        """The policy as it is written, without what :meth:`with_` changed."""
        import tomllib

        return tomllib.loads(self.text)

    def _native(self) -> NativePolicy:
        return self._path, self._text, self._sets

    def __repr__(self) -> str:
        try:
            said = self.to_dict()
        except (OSError, ValueError):
            return f"Policy({self._path!r})"
        privacy = dict(said.get("privacy", {}))
        for given in self._sets:
            key, _, value = given.partition("=")
            if key.startswith("privacy."):
                privacy[key.removeprefix("privacy.")] = int(value) if value.isdigit() else value
        attackers = [attacker.get("name") for attacker in privacy.pop("attacker", [])]
        parts = [f"{key}={value!r}" for key, value in privacy.items()]
        if attackers:
            parts.append(f"attackers={attackers!r}")
        count = len(said.get("attribute", []))
        parts.append(f"{count} attribute" if count == 1 else f"{count} attributes")
        return f"Policy({', '.join(parts)})"


def _set(value: object) -> str:
    return value if isinstance(value, str) else _toml(value)


def _written(
    attributes: Mapping[str, str | Mapping[str, Any]],
    undeclared: str | None,
    seed: int | None,
    privacy: Mapping[str, Any],
) -> str:
    lines = ["version = 1"]
    if seed is not None:
        lines.append(f"seed = {seed}")
    if undeclared is not None:
        lines.append(f"undeclared = {_toml(undeclared)}")
    for path, said in attributes.items():
        said = {"role": said} if isinstance(said, str) else said
        lines += ["", "[[attribute]]", f"path = {_toml(path)}"]
        lines += [f"{key} = {_toml(value)}" for key, value in said.items()]
    for table, keys in (
        ("privacy", [key for key in privacy if key not in _METHOD]),
        ("method", [key for key in privacy if key in _METHOD]),
    ):
        if keys:
            lines += ["", f"[{table}]"] + [f"{key} = {_toml(privacy[key])}" for key in keys]
    return "\n".join(lines) + "\n"
