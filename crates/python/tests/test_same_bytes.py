"""The same bytes as the command line: every family, every golden case, by path and as frames."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

import bosket as bk
from conftest import ROOT

SHARED = ROOT.parent / "shared"
Run = Callable[..., str]

FAMILIES = {
    "clinic": (["clinic", "--people", "200"], "policy.toml", []),
    "baskets": (["baskets", "--transactions", "300"], "policy.toml", []),
    "students": (["students", "--students", "80"], "policy.toml", []),
    "anatomized students": (["students", "--students", "80"], "policy.toml", ["publish.anatomize=true"]),
    "dissected json": (["sensitive-tree"], "policy.toml", []),
    "dissected xml": (["sensitive-tree"], "policy-xml.toml", []),
}


def made(run: Run, folder: Path, family: str) -> tuple[bk.Policy, Path, Path]:
    """The data of a family: its policy, its source and what the command line publishes."""
    args, name, sets = FAMILIES[family]
    run("generate", *args, "--out", "data")
    given = [word for each in sets for word in ("--set", each)]
    run("anonymize", f"data/{name}", *given)
    policy = bk.Policy.load(folder / "data" / name)
    said = policy.to_dict()
    if sets:
        policy = policy.with_(publish__anatomize=True)
    return policy, folder / "data" / said["source"]["path"], folder / "data" / said["publish"]["path"]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_by_path(run: Run, tmp_path: Path, family: str) -> None:
    policy, source, published = made(run, tmp_path, family)
    pub = bk.anonymize(source, policy)
    out = pub.write(tmp_path / published.name)
    assert out.read_bytes() == published.read_bytes()
    assert bk.verify(pub)


@pytest.mark.parametrize("family", ["clinic", "students", "anatomized students"])
def test_every_family_of_documents_as_a_frame(run: Run, tmp_path: Path, family: str) -> None:
    policy, source, published = made(run, tmp_path, family)
    frame = pl.read_ndjson(source)
    pub = bk.anonymize(frame, policy)
    assert pub.write(tmp_path / published.name).read_bytes() == published.read_bytes()


@pytest.mark.parametrize("family", ["clinic", "students", "dissected json"])
def test_parquet_as_a_frame(run: Run, tmp_path: Path, family: str) -> None:
    policy, source, _ = made(run, tmp_path, family)
    run("convert", str(source), "in.parquet")
    apart = family == "dissected json"
    target = "published" if apart else "published.parquet"
    sets = {"source.format": "parquet", "source.path": str(tmp_path / "in.parquet"), "publish.path": str(tmp_path / target)}
    given = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    run("anonymize", str(Path(policy._path)), *given, "--force")
    policy = policy.with_(source__format="parquet", source__path="in.parquet", publish__path=target)
    out = bk.anonymize(pq.read_table(tmp_path / "in.parquet"), policy).write(tmp_path / f"mine-{target}")
    if not apart:
        assert out.read_bytes() == (tmp_path / target).read_bytes()
        certificate = f"{target}.certificate.json"
        mine = json.loads((tmp_path / f"mine-{certificate}").read_text("utf-8"))
        theirs = json.loads((tmp_path / certificate).read_text("utf-8"))
        assert mine["publication"] == theirs["publication"] and mine["claim"] == theirs["claim"]
        return
    names = sorted(path.name for path in (tmp_path / target).glob("*.parquet"))
    assert names == sorted(path.name for path in out.glob("*.parquet")) and len(names) > 1
    for name in names:
        assert (out / name).read_bytes() == (tmp_path / target / name).read_bytes()


def test_tables_of_text_as_frames(run: Run, tmp_path: Path) -> None:
    run("generate", "students", "--students", "80", "--out", "data")
    run("anonymize", "data/tables/policy-csv.toml")
    policy = bk.Policy.load(tmp_path / "data/tables/policy-csv.toml")
    said = policy.to_dict()
    tables = said["source"]["table"]
    frames = {t["name"]: pl.read_csv(tmp_path / "data/tables" / t["path"], infer_schema=False) for t in tables}
    out = bk.anonymize(frames, policy).write(tmp_path / "mine")
    expected = tmp_path / "data/tables" / said["publish"]["path"]
    for table in tables:
        name = Path(table["path"]).name
        assert (out / name).read_bytes() == (expected / name).read_bytes()


def golden(folder: Path) -> Path:
    if not (SHARED / "golden").is_dir():
        pytest.skip("the worked examples are not beside the repository")
    return Path(shutil.copytree(SHARED / "golden", folder / "golden"))


KMN = """
version = 1
[source]
format = "ndjson"
path = "{source}"
{attributes}
[privacy]
model = "{model}"
k = 2
m = 2
{more}
[publish]
path = "published.ndjson"
"""


def test_the_worked_example_of_sets(run: Run, tmp_path: Path) -> None:
    folder = golden(tmp_path) / "km"
    text = KMN.format(
        source="fig2.dat",
        attributes='[[attribute]]\npath = "item"\nrole = "quasi"\nhierarchy = "hierarchy.csv"',
        model="km",
        more="",
    ).replace('"ndjson"', '"transactions"').replace("published.ndjson", "published.dat")
    (folder / "policy.toml").write_text(text, "utf-8")
    run("anonymize", str(folder / "policy.toml"))
    pub = bk.anonymize(folder / "fig2.dat", bk.Policy.load(folder / "policy.toml"))
    assert pub.write(tmp_path / "mine.dat").read_bytes() == (folder / "published.dat").read_bytes()


def paths(value: Any, at: str = "") -> set[str]:
    """The paths of all single values of JSON."""
    if isinstance(value, dict):
        return {p for key, below in value.items() for p in paths(below, f"{at}.{key}" if at else key)}
    if isinstance(value, list):
        return {p for below in value for p in paths(below, f"{at}[]")}
    return {at}


@pytest.mark.parametrize("case", ["kmn/fig10.ndjson", "kmn/example7.ndjson", "clusters/students.ndjson"])
def test_the_worked_examples_of_trees(run: Run, tmp_path: Path, case: str) -> None:
    source = golden(tmp_path) / case
    lines = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
    found = sorted({path for line in lines for path in paths(line)})
    attributes = "\n".join(
        f'[[attribute]]\npath = "{path}"\nrole = "quasi"\nhierarchy = {{ build = "letters" }}' for path in found
    )
    text = KMN.format(source=source.name, attributes=attributes, model="kmn", more="n = 1")
    (source.parent / "policy.toml").write_text(text, "utf-8")
    run("anonymize", str(source.parent / "policy.toml"))
    expected = (source.parent / "published.ndjson").read_bytes()
    policy = bk.Policy.load(source.parent / "policy.toml")
    for data in (source, pl.read_ndjson(source)):
        pub = bk.anonymize(data, policy)
        assert pub.write(tmp_path / "mine.ndjson", force=True).read_bytes() == expected


def test_the_worked_example_of_dissection(run: Run, tmp_path: Path) -> None:
    folder = shutil.copytree(ROOT / "crates/cli/tests/golden/dissect", tmp_path / "case")
    policy = bk.Policy.load(folder / "policy.toml")
    pub = bk.anonymize(folder / "private.xml", policy)
    out = tmp_path / "out"
    out.mkdir()
    pub.write(out / "published.xml")
    for name in ("published.xml", "published.xsd"):
        assert (out / name).read_bytes() == (folder / name).read_bytes()
