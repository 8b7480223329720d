package runfile

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

func formatPage(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The numbers of columns in the tables are those of the code.
func TestFormatColumns(t *testing.T) {
	doc := formatPage(t)
	for _, table := range []struct {
		title string
		rows  map[int]string
	}{
		{"Index", map[int]string{
			indexCounts: "counts", indexBlockKind: "kind", indexBlockLen: "length", indexWorldID: "world",
			indexWorldSize: "world size", indexWorldStart: "world start", indexGroups: "groups", indexClass: "class",
			indexNodes: "nodes", indexEdges: "edges", indexStatsFirst: "times from", indexStatsProcs: "times of",
			indexTraceFirst: "traces from", indexTraceStreams: "traces of", indexHash: "hash", indexSeqs: "properties",
		}},
		{"Small tables", map[int]string{
			stringsShared: "shared", stringsLength: "length", stringsBytes: "bytes", sitePlace: "place", siteFunc: "function",
		}},
		{"Groups", map[int]string{
			colGroup: "group", colShape: "shape", colHeader: "header", colNewHeader: "new header", colMask: "mask",
			colFlags: "flags", colEdges: "edges", colTo: "to", colDefKind: "definition", colDefWords: "words",
			colVaries: "varies", colWeight: "weight", colCount: "count", colFixed: "fixed", colDeviation: "deviation",
			colLength: "length", colText: "text", colSeq: "sequence", colBody: "body", colBodies: "bodies", colForm: "form",
			colWides: "wide words", colWide: "wide word", colDefWord: "definition's word",
			roleColumn(roleRuns): "bodies of Runs", roleColumn(roleCounts): "bodies of Counts",
			roleColumn(roleValues): "bodies of Values", roleColumn(roleElems): "bodies of Elems",
			roleColumn(roleVec): "bodies of vectors", roleColumn(roleMember): "values of members",
			roleColumn(roleCheckpoints): "bodies of checkpoints", colCheckpoints: "checkpoints",
		}},
		{"Times", map[int]string{
			timesNodes: "nodes", timesError: "error", timesBound: "bound", timesBegin: "begin", timesClock: "clock",
			timesGap: "gap", timesDur: "duration", timesOther: "other",
		}},
		{"Traces", map[int]string{
			traceNodes: "nodes", traceError: "error", traceBegin: "begin", traceClock: "clock", traceGap: "gap",
			traceDur: "duration", traceFineBin: "fine bin", traceFine: "fine",
		}},
		{"Statistics", map[int]string{
			statForm: "form", statCount: "count", statTimes + intervalSum: "sum", statTimes + intervalMin: "minimum",
			statTimes + intervalMax: "maximum", statTimes + intervalBins: "bins", statStream: "nodes",
		}},
	} {
		_, section, ok := strings.Cut(doc, "\n## "+table.title+"\n")
		if !ok {
			t.Errorf("FORMAT.md has no section %s", table.title)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for n, name := range table.rows {
			if row := fmt.Sprintf("\n| %d | %s |", n, name); !strings.Contains(section, row) {
				t.Errorf("%s has no row %q", table.title, row[1:])
			}
		}
	}
	if i, s := len(processProperties), indexSeqs+seq.BodyColumns-1; i != 11 || s != 20 || len(streamProperties) != 7 {
		t.Errorf("FORMAT.md tells of 11 properties of processes, 7 of streams, from column 15 to 20; there are %d, to %d", i, s)
	}
	if colDefWord+7 != 30 || colWord+1 != 32 || colWord+signature.MaxWords-1 != 62 {
		t.Error("FORMAT.md has the words in columns 24 to 30 and 32 to 62")
	}
}
