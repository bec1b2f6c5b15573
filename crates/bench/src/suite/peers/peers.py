"""Runs one of the peers on a table and says what it took.

peers.py anjana|anonypy|bosket DATA HIERARCHIES K OUT   anonymizes, all columns being quasi-identifiers
peers.py pycanon DATA                                   tells the k that a table has

DATA is a CSV file with a header, HIERARCHIES a folder with COLUMN.csv, one `leaf;parent;...;*` line per value. Only the
anonymization is timed: reading, writing and imports are not. What goes to standard output is one JSON object.
"""

import csv
import json
import os
import sys
import time

import pandas as pd

# The share of rows that anjana may suppress, in per cent.
SUPPRESSED = 5


def hierarchy(folder, column):
    """Per value its path to the root, itself first."""
    with open(os.path.join(folder, column + ".csv"), newline="") as file:
        return {row[0]: row for row in csv.reader(file, delimiter=";")}


def peak():
    """The most memory of this process, in megabytes.

    Not ru_maxrss: Linux hands it on through exec, so a child of a large process would report its parent's.
    """
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024 / 1e6


def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    took["peak"] = peak()
    return result, took


def anjana(data, folder, k):
    from anjana.anonymity import k_anonymity

    levels = {}
    for column in data.columns:
        paths = list(hierarchy(folder, column).values())
        depth = max(len(path) for path in paths)
        padded = [path + [path[-1]] * (depth - len(path)) for path in paths]
        levels[column] = {level: [path[level] for path in padded] for level in range(depth)}
    columns = list(data.columns)
    result, took = timed(lambda: k_anonymity(data.copy(), [], columns, k, SUPPRESSED, levels))
    return result[columns] if len(result) else data.iloc[:0], took


def anonypy(data, folder, k):
    from anonypy import Preserver

    frame = data.copy()
    for column in frame.columns:
        numbers = pd.to_numeric(frame[column], errors="coerce")
        frame[column] = numbers if numbers.notna().all() else frame[column].astype("category")
    # It wants a sensitive column, and all of ours are quasi-identifiers.
    frame["nothing"] = pd.Series(["-"] * len(frame), dtype="category")
    columns = list(data.columns)
    rows, took = timed(lambda: Preserver(frame, columns, "nothing").anonymize_k_anonymity(k))

    # It publishes sets of values and ranges; the lowest node of the hierarchy above all of them says the same or less.
    trees = {column: hierarchy(folder, column) for column in columns}

    def covered(column, text):
        path = trees[column]
        if pd.api.types.is_numeric_dtype(frame[column]):
            low, _, high = text.partition("-")
            values = [value for value in path if int(low) <= int(value) <= int(high or low)]
        else:
            values = text.split(",")
        common = [node for node in path[values[0]] if all(node in path[value] for value in values)]
        return common[0]

    out = []
    for row in rows:
        cells = []
        for column in columns:
            text = row[column][0] if isinstance(row[column], list) else row[column]
            cells.append(covered(column, str(text)))
        out.extend([cells] * row["count"])
    return pd.DataFrame(out, columns=columns), took


def bosket(data, folder, k):
    import bosket as bk

    def attribute(column):
        return {"role": "quasi", "hierarchy": os.path.join(folder, column + ".csv")}

    attributes = {column: attribute(column) for column in data.columns}
    policy = bk.Policy(model="k-anonymity", k=k, algorithm="blocks", attributes=attributes)
    result, took = timed(lambda: bk.anonymize(data, policy))
    return result.to_pandas(), took


def main():
    tool, path = sys.argv[1], sys.argv[2]
    data = pd.read_csv(path, dtype=str, keep_default_na=False)
    if tool == "pycanon":
        from pycanon import anonymity

        k, took = timed(lambda: anonymity.k_anonymity(data, list(data.columns)))
        print(json.dumps({**took, "k": int(k)}))
        return
    folder, k, out = sys.argv[3], int(sys.argv[4]), sys.argv[5]
    # Peers print as they go; standard output is for the answer.
    stdout, sys.stdout = sys.stdout, sys.stderr
    result, took = {"anjana": anjana, "anonypy": anonypy, "bosket": bosket}[tool](data, folder, k)
    sys.stdout = stdout
    result.to_csv(out, index=False)
    print(json.dumps({**took, "rows": len(result)}))


main()
