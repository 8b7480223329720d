"""Runs recorded by efg, the MPI profiler, as data frames.

    import efg
    run = efg.open("run.efg")
    run.events(rank=3)

Everything comes from the program efg, which is run for each question. Data frames need pandas.
"""

import csv
import json
import os
import subprocess
import tempfile

from ._regions import attribute, functions, region, region_begin, region_end
from ._tables import COLUMNS

__all__ = ["open", "Run", "Error", "attribute", "functions", "region", "region_begin", "region_end"]


class Error(Exception):
    """What efg says was wrong; status is its exit status."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


def open(path, program=None):  # as in gzip.open
    """Open a run file. program is efg's, by default the environment's EFG, or efg in PATH."""
    run = Run(path, program or os.environ.get("EFG") or "efg")
    run.info()
    return run


class Run:
    """A recorded run."""

    def __init__(self, path, program="efg"):
        self.path = os.fspath(path)
        self.program = program

    def __repr__(self):
        return f"efg.open({self.path!r})"

    # Tables.

    def events(self, rank=None, thread=None, start=None, stop=None):
        """Each call, as a data frame. See rows for the arguments."""
        return self.table("events", rank, thread, start, stop)

    def messages(self, rank=None, thread=None, start=None, stop=None):
        """The messages that were received, with both sides, as a data frame."""
        return self.table("messages", rank, thread, start, stop)

    def waits(self, rank=None, thread=None, start=None, stop=None):
        """The waits of calls, and what they wait for, as a data frame."""
        return self.table("waits", rank, thread, start, stop)

    def calls(self, rank=None, thread=None):
        """What the calls of each node of the graphs add up to, as a data frame."""
        return self.table("calls", rank, thread)

    def nodes(self, rank=None, thread=None):
        """The distinct calls, as a data frame."""
        return self.table("nodes", rank, thread)

    def edges(self, rank=None, thread=None):
        """The steps from distinct call to distinct call, as a data frame."""
        return self.table("edges", rank, thread)

    def ranks(self, rank=None):
        """The processes, as a data frame."""
        return self.table("ranks", rank)

    def table(self, name, rank=None, thread=None, start=None, stop=None):
        """A table as a data frame. See rows for the arguments."""
        import pandas

        columns = _columns(name)
        kinds = {c: _KINDS[kind] for c, kind in columns.items() if kind in _KINDS}
        dates = [c for c, kind in columns.items() if kind == "timestamp"]
        with self._export(name, rank, thread, start, stop) as out:
            return pandas.read_csv(out, dtype=kinds, parse_dates=dates, keep_default_na=False, na_values=[""])

    def rows(self, name, rank=None, thread=None, start=None, stop=None):
        """Iterate over the rows of a table, dictionaries; does not need pandas.

        rank is a number, an iterable of numbers, or a text as in "0-3,7". start and stop are seconds
        since the run began: calls in progress then are included. Absent values are None.
        """
        columns = _columns(name)
        with self._export(name, rank, thread, start, stop) as out:
            for row in csv.DictReader(out):
                yield {c: _PARSERS[kind](row[c]) if row[c] != "" else None for c, kind in columns.items()}

    # Answers.

    def info(self):
        """What efg info --json says."""
        return self._json("info", self.path, "--json")

    def report(self):
        """What efg report --json says."""
        return self._json("report", self.path, "--json")

    def matrix(self, values="bytes", collectives=False):
        """What each rank sent to each other one, as a data frame: rows are senders.

        values is "bytes" or "messages".
        """
        import pandas

        if values not in ("bytes", "messages"):
            raise ValueError(f"values={values!r}: want bytes or messages")
        with self._run("matrix", self.path, "--csv", *(["--collectives"] if collectives else [])) as out:
            pairs = pandas.read_csv(out)
        ranks = self.ranks()["rank"]
        table = pairs.pivot_table(index="from", columns="to", values=values, aggfunc="sum")
        return table.reindex(index=ranks, columns=ranks).fillna(0).astype("int64").rename_axis(index="from", columns="to")

    def sql(self, statement):
        """The rows of an SQL statement, as a data frame; docs/sql.md describes the tables."""
        import pandas

        with self._run("sql", self.path, statement, "--format", "csv") as out:
            return pandas.read_csv(out)

    # Running efg.

    def _export(self, name, rank, thread, start, stop):
        args = ["export", self.path, "--format", "csv", "--what", name]
        if rank is not None:
            args += ["--rank", _ranks(rank)]
        if thread is not None:
            args += ["--thread", str(thread)]
        for flag, at in (("--from", start), ("--to", stop)):
            if at is not None:
                args += [flag, f"{at:.9f}s"]
        return self._run(*args)

    def _json(self, *args):
        with self._run(*args) as out:
            return json.load(out)

    def _run(self, *args):
        """Run efg and return its output, a file. It is complete: efg has succeeded."""
        out = tempfile.TemporaryFile("w+", encoding="utf-8", newline="")
        try:
            done = subprocess.run([self.program, *args], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
            if done.returncode != 0:
                raise Error(done.stderr.decode(errors="replace").strip(), done.returncode)
        except BaseException:
            out.close()
            raise
        out.seek(0)
        return out


_KINDS = {"integer": "Int64", "boolean": "boolean", "text": "object", "JSON": "object"}
_PARSERS = {"integer": int, "boolean": "true".__eq__, "text": str, "JSON": str, "timestamp": str}


def _columns(name):
    if name not in COLUMNS:
        raise ValueError(f"table {name!r}: want one of {', '.join(COLUMNS)}")
    return COLUMNS[name]


def _ranks(rank):
    if isinstance(rank, (str, int)):
        return str(rank)
    return ",".join(str(int(r)) for r in rank)
