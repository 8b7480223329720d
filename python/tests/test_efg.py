"""Tests against what efg itself prints: python3 -m unittest, with RUN and EFG in the environment."""

import json
import os
import subprocess
import unittest

import efg
import pandas

RUN, EFG = os.environ["RUN"], os.environ["EFG"]


def output(*args):
    return subprocess.run([EFG, *args], check=True, stdout=subprocess.PIPE).stdout.decode()


class Tests(unittest.TestCase):
    def setUp(self):
        self.run_ = efg.open(RUN)

    def test_events_are_those_of_json_lines(self):
        lines = [json.loads(l) for l in output("reconstruct", RUN, "--format", "jsonl").splitlines()]
        lines = [l for l in lines if "op" in l]
        events = self.run_.events()
        self.assertEqual(len(events), len(lines))
        for row, line in zip(events.itertuples(), lines):
            self.assertEqual((row.rank, row.thread, row.seq, row.op, row.site), (line["rank"], line["thread"], line["seq"], line["op"], line["site"]))
            self.assertEqual((json.loads(row.args), json.loads(row.out)), (line["args"], line["out"]))
            if "t0" in line:
                self.assertEqual((row.t0, row.t1), (line["t0"], line["t1"]))
            else:
                self.assertIs(row.t0, pandas.NA)
        self.assertEqual(str(events.dtypes["peer"]), "Int64")

    def test_rows_need_no_pandas(self):
        rows = list(self.run_.rows("events", rank=1))
        self.assertEqual([r["seq"] for r in rows], list(self.run_.events(rank=1)["seq"]))
        self.assertEqual({r["rank"] for r in rows}, {1})
        self.assertTrue(any(r["peer"] is None for r in rows))

    def test_selections(self):
        self.assertEqual(set(self.run_.events(rank=[0, 1])["rank"]), {0, 1})
        self.assertEqual(set(self.run_.events(rank="1")["rank"]), {1})
        events = self.run_.events()
        middle = int(events["t0"].median())
        part = self.run_.events(start=middle / 1e9)
        self.assertEqual(len(part), int((events["t1"] >= middle).sum()))

    def test_tables_agree(self):
        events, calls = self.run_.events(), self.run_.calls()
        self.assertEqual(int(calls["visits"].sum()), len(events))
        self.assertEqual(len(self.run_.nodes()), len(calls))
        self.assertGreater(len(self.run_.edges()), 0)
        self.assertEqual(list(self.run_.ranks()["rank"]), sorted(set(events["rank"])))
        self.assertEqual(str(self.run_.ranks()["complete"].dtype), "boolean")

    def test_matrix(self):
        matrix = self.run_.matrix()
        report = self.run_.report()
        self.assertEqual(matrix.to_numpy().sum(), json.loads(output("matrix", RUN, "--json"))["total"]["bytes"])
        self.assertEqual(matrix.shape, (report["processes"], report["processes"]))

    def test_messages_and_waits(self):
        messages, waits = self.run_.messages(), self.run_.waits()
        self.assertEqual(len(messages), self.run_.matrix("messages").to_numpy().sum())
        total = json.loads(output("waits", RUN, "--json"))
        self.assertEqual(int((waits["end"] - waits["begin"])[~waits["setup"]].sum()), total["waiting"])

    def test_sql(self):
        self.assertEqual(self.run_.sql("select count(*) as n from events")["n"][0], len(self.run_.events()))

    def test_errors(self):
        for wrong in (lambda: efg.open("/dev/null"), lambda: efg.open("missing.efg"), lambda: self.run_.events(rank=99), lambda: self.run_.sql("select")):
            with self.assertRaises(efg.Error) as caught:
                wrong()
            self.assertNotIn("\n", str(caught.exception))
        with self.assertRaises(ValueError):
            self.run_.table("other")


if __name__ == "__main__":
    unittest.main()
