package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/analysis/efficiency"
	"github.com/efg-tools/efg/internal/analysis/match"
	"github.com/efg-tools/efg/internal/analysis/waits"
	"github.com/efg-tools/efg/internal/analysis/whatif"
	"github.com/efg-tools/efg/internal/jsondoc"
)

type nobody struct{}

func (nobody) Enter(*match.Call) {}
func (nobody) Exit(*match.Call)  {}

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func main() {
	what, file := os.Args[1], os.Args[2]
	run, err := runfile.OpenRun(file)
	if err != nil {
		panic(err)
	}
	procs := make([]int, len(run.Procs))
	for i := range procs {
		procs[i] = i
	}
	if len(os.Args) > 3 {
		f, _ := os.Create(os.Args[3])
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	events := uint64(0)
	for i := range run.Procs {
		for _, s := range run.Procs[i].Streams {
			events += s.Events
		}
	}
	for _, w := range strings.Split(what, ",") {
		runtime.GC()
		c0, t0 := cpu(), time.Now()
		switch w {
		case "open":
			_, err = match.Open(run)
		case "match":
			var tr *match.Trace
			tr, err = match.Open(run)
			if err == nil {
				_, err = tr.Walk(context.Background(), nobody{}, nil)
			}
		case "eff":
			_, err = efficiency.New(run, efficiency.Parts{})
		case "times":
			_, err = efficiency.Times(run)
		case "waits":
			var rep *waits.Report
			rep, err = waits.New(run, procs)
			if err == nil && os.Getenv("OUT") != "" {
				b, _ := json.MarshalIndent(jsondoc.NewWaits("x", rep), "", " ")
				os.WriteFile(os.Getenv("OUT"), b, 0o644)
			}
		case "ideal":
			var tr *match.Trace
			tr, err = match.Open(run)
			x := whatif.NewSimulation(tr, whatif.Network{}, []whatif.Scenario{{Ideal: true}})
			_, err = tr.Walk(context.Background(), x, nil)
		}
		if err != nil {
			panic(err)
		}
		c, t := cpu()-c0, time.Since(t0)
		fmt.Printf("%-6s cpu %6.3f s wall %6.3f s  %5.2f M/s\n", w, c.Seconds(), t.Seconds(), float64(events)/c.Seconds()/1e6)
	}
}
