"""Data that no single machine holds: the same guarantees on a cluster of Spark.

Every task is a function of its batch and of what the driver has found so far; what tasks find is merged, never added up in
shared counters, so that a task that is tried again changes nothing. PySpark 4.1 or newer and pyarrow have to be installed, here
and on the workers: ``docs/spark.md`` says how the package travels.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ._errors import EnvironmentFault
from ._policy import Policy
from ._results import Verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ._spark import Published

__all__ = ["anonymize", "verify"]

_INSTALL = "pip install 'pyspark>=4.1' pyarrow pandas"


def _installed() -> None:
    try:
        import pyarrow  # noqa: F401
        import pyspark
    except ImportError as missing:
        raise EnvironmentFault(f"bosket.spark needs {missing.name}, which is not installed: {_INSTALL}") from None
    if tuple(int(part) for part in pyspark.__version__.split(".")[:2]) < (4, 1):
        raise EnvironmentFault(f"bosket.spark needs PySpark 4.1, and this is {pyspark.__version__}: {_INSTALL}")


def anonymize(
    data: DataFrame,
    policy: Policy,
    path: str | os.PathLike[str] | None = None,
    *,
    records_per_part: int = 250_000,
    force: bool = False,
    memory: int | None = None,
) -> Published:
    """Makes a publication of a data frame of Spark that keeps what the policy promises, or raises.

    All values of a person stand in one row. ``path`` is a folder that the driver and all workers reach under the same name; without
    one it is the policy's ``publish.path``. It is written as Parquet files of ``records_per_part`` records, sorted by what is
    published across all of them, verified from these bytes on the cluster, and gets its name together with its certificate
    (``<path>.certificate.json``), or not at all. ``memory`` is what a task may take, in bytes.
    """
    _installed()
    from ._spark import Run

    return Run(data.sparkSession, policy, memory).anonymize(data, path, records_per_part, force)


def verify(
    publication: DataFrame | str | os.PathLike[str],
    policy: Policy,
    *,
    spark: SparkSession | None = None,
    memory: int | None = None,
) -> Verdict:
    """Checks on a cluster whether a publication keeps what a policy promises.

    A path is a folder that :func:`anonymize` has published, which is read from its bytes: every file must belong to it, and the order
    of its records must be that of their content across all files. Rows of a data frame have neither bytes nor order: only what they
    say is judged.
    """
    _installed()
    from ._spark import Run, active

    if isinstance(publication, (str, os.PathLike)):
        return Run(spark or active(), policy, memory).verify_folder(os.fspath(publication))
    frame: Any = publication
    return Run(frame.sparkSession, policy, memory).verify_rows(frame)
