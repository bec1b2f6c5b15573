"""Metadata for catalogues, read by the tools that catalogues are read with; and signatures."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import mlcroissant as mlc
import pytest
import rdflib

import bosket as bk
from conftest import BINARY, people

ABOUT = {
    "name": "Visits",
    "license": "https://creativecommons.org/licenses/by/4.0/",
    "creator": "The clinic",
    "date": "2026-11-18",
}
URL = "https://data.example/visits"


def run(*args: str | Path, text: str | None = None) -> None:
    subprocess.run([BINARY, *map(str, args)], check=True, capture_output=True, input=text, encoding="utf-8")


def attribute(path: str, role: str, more: str = "") -> str:
    return f'[[attribute]]\npath = "{path}"\nrole = "{role}"\n{more}\n'


FANOUT = 'hierarchy = { build = "fanout", fanout = 4 }'


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nested")
    (folder / "in.ndjson").write_text("".join(json.dumps(one) + "\n" for one in people()), "utf-8")
    (folder / "policy.toml").write_text(
        'version = 1\n[source]\nformat = "ndjson"\npath = "in.ndjson"\n'
        + attribute("name", "identifying")
        + attribute("born", "quasi", 'hierarchy = { build = "interval", min = 1940, max = 2010, widths = [10, 70] }')
        + attribute("home.city", "quasi", FANOUT)
        + attribute("visits[].year", "quasi", FANOUT)
        + attribute("visits[].codes[]", "quasi", FANOUT)
        + '[privacy]\nmodel = "kmn"\nk = 2\nm = 1\nn = 0\n[publish]\npath = "out.ndjson"\n'
        + '[release]\naccess = "contract"\napprovers = ["A. Acker"]\ncertify = ["access"]\n',
        "utf-8",
    )
    run("anonymize", folder / "policy.toml")
    return folder


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flat")
    rows = "".join(f"T{i % 3},d{i % 6}\n" for i in range(24))
    (folder / "in.csv").write_text("town,disease\n" + rows, "utf-8")
    (folder / "policy.toml").write_text(
        'version = 1\n[source]\nformat = "csv"\npath = "in.csv"\n'
        + attribute("town", "quasi", FANOUT)
        + attribute("disease", "sensitive")
        + '[privacy]\nmodel = "k-anonymity"\nk = 3\n[publish]\npath = "out.csv"\n',
        "utf-8",
    )
    run("anonymize", folder / "policy.toml")
    return folder


def read(folder: Path, made: dict[str, Any]) -> tuple[Any, list[dict[str, Any]]]:
    """What mlcroissant makes of metadata that lies beside its files."""
    (folder / "metadata.json").write_text(json.dumps(made), "utf-8")
    dataset = mlc.Dataset(jsonld=folder / "metadata.json")
    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    # How to cite it is for whoever publishes it to say.
    assert all("citeAs" in warning or '"https://schema.org/url"' in warning for warning in issues.warnings), issues.warnings
    return dataset, list(dataset.records("records"))


def test_croissant_of_nested_records(nested: Path) -> None:
    certificate = nested / "out.ndjson.certificate.json"
    with pytest.warns(bk.BosketWarning, match="--url"):
        made = bk.export(nested / "out.ndjson", "croissant", certificate=certificate, **ABOUT)
    dataset, records = read(nested, made)
    published = [json.loads(line) for line in (nested / "out.ndjson").read_text("utf-8").splitlines()]
    assert len(records) == len(published) == 60
    for record, line in zip(records, published, strict=True):
        born = record["records/born"]
        assert (born.decode() if born is not None else None) == (str(line["born"]) if "born" in line else None)
        assert record["records/home"]["records/home/city"].decode() == line["home"]["city"]
        # Of somebody without visits mlcroissant makes one of nothing.
        read_years = [visit["records/visits/year"] for visit in record["records/visits"] or []]
        years = [str(visit["year"]) for visit in line.get("visits", []) if "year" in visit]
        assert [year.decode() for year in read_years if year is not None] == years
    assert "visits[].codes[]" in made["recordSet"][0]["description"]
    assert dataset.metadata.name == "Visits" and "at least 2 people" in made["description"]
    # With an address it is valid, too; nobody downloads anything to find out.
    whole = bk.export(nested / "out.ndjson", "croissant", certificate=certificate, url=URL, **ABOUT)
    assert not mlc.Dataset(jsonld=whole).metadata.ctx.issues.errors
    assert "Person" not in json.dumps(whole) and "Acker" not in json.dumps(whole)


def test_croissant_of_a_table(flat: Path) -> None:
    made = bk.export(flat / "out.csv", "croissant", certificate=flat / "out.csv.certificate.json", url=URL, **ABOUT)
    made["distribution"][0]["contentUrl"] = "out.csv"
    _, records = read(flat, made)
    lines = (flat / "out.csv").read_text("utf-8").splitlines()[1:]
    assert [(r["records/town"].decode(), r["records/disease"].decode()) for r in records] == [
        tuple(line.split(",")) for line in lines
    ]


def test_dcat_is_read_by_an_rdf_library(nested: Path) -> None:
    certificate = nested / "out.ndjson.certificate.json"
    made = bk.export(nested / "out.ndjson", "dcat", certificate=certificate, url=URL, **ABOUT)
    graph = rdflib.Graph().parse(data=json.dumps(made), format="json-ld")
    dcat, dct, spdx = (rdflib.Namespace(f"http://{at}") for at in ("www.w3.org/ns/dcat#", "purl.org/dc/terms/", "spdx.org/rdf/terms#"))
    (dataset,) = graph.subjects(rdflib.RDF.type, dcat.Dataset)
    assert str(dataset) == URL
    for mandatory in (dct.title, dct.description):
        (text,) = graph.objects(dataset, mandatory)
        assert isinstance(text, rdflib.Literal) and text.language == "en"
    (issued,) = graph.objects(dataset, dct.issued)
    assert isinstance(issued, rdflib.Literal) and str(issued) == "2026-11-18" and issued.datatype == rdflib.XSD.date
    (right,) = graph.objects(dataset, dct.accessRights)
    assert str(right).endswith("/access-right/RESTRICTED")
    (one,) = graph.objects(dataset, dcat.distribution)
    assert (one, rdflib.RDF.type, dcat.Distribution) in graph
    assert (one, dcat.accessURL, rdflib.URIRef(URL)) in graph
    assert (one, dcat.downloadURL, rdflib.URIRef(f"{URL}/out.ndjson")) in graph
    (checksum,) = graph.objects(one, spdx.checksum)
    assert (checksum, spdx.algorithm, spdx.checksumAlgorithm_sha256) in graph
    (value,) = graph.objects(checksum, spdx.checksumValue)
    content = (nested / "out.ndjson").read_bytes()
    assert isinstance(value, rdflib.Literal) and value.datatype == rdflib.XSD.hexBinary
    assert value.toPython() == hashlib.sha256(content).digest()
    (size,) = graph.objects(one, dcat.byteSize)
    assert isinstance(size, rdflib.Literal) and size.toPython() == len(content)
    with pytest.raises(bk.BosketError, match="--url"):
        bk.export(nested / "out.ndjson", "dcat", certificate=certificate)
    with pytest.raises(ValueError, match="croissant or dcat"):
        bk.export(nested / "out.ndjson", "rdf", certificate=certificate)  # type: ignore[arg-type]


def test_a_signature_is_asked_for(nested: Path) -> None:
    key = nested / "own.key"
    run("certificate", "keygen", "--out", key, "--passphrase-fd", "0", text="some words\n")
    certificate = nested / "out.ndjson.certificate.json"
    run("certificate", "sign", certificate, "--key", key, "--passphrase-fd", "0", text="some words\n")
    public = nested / "own.pub"
    bk.verify(nested / "out.ndjson", certificate=certificate, key=public).require()
    word = public.read_text("utf-8").splitlines()[1]
    assert bk.verify(nested / "out.ndjson", certificate=certificate, key=word)
    certificate.write_text(certificate.read_text("utf-8") + "\n", "utf-8")
    found = bk.verify(nested / "out.ndjson", certificate=certificate, key=word)
    assert not found and not found.to_dict()["signature"]["holds"]
