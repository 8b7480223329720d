package jsondoc

import (
	"encoding/json"
	"time"

	"github.com/efg-tools/efg/internal/fleet"
)

// Fleet is the output of efg fleet --json; docs/fleet.md describes it. Times are ns.
type Fleet struct {
	Schema   string        `json:"schema"`
	Version  int           `json:"version"`
	Runs     int           `json:"runs"`
	Untimed  int           `json:"untimed"` // of these: runs without times
	Pending  int           `json:"pending"` // runs that were not read yet; over HTTP only
	Unread   []Unread      `json:"unread"`
	Programs []FleetUse    `json:"programs"`
	Users    []FleetUse    `json:"users"`
	Slower   []FleetChange `json:"slower"`
	Scaling  []FleetSeries `json:"scaling"`
}

// Unread is a run file that could not be read.
type Unread struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// FleetUse is what the runs of a program or user add up to.
type FleetUse struct {
	Name    string  `json:"name"`
	Runs    int     `json:"runs"`
	Timed   int     `json:"timed"`
	Matched int     `json:"matched"`
	Ranks   int     `json:"ranks"`
	Elapsed uint64  `json:"elapsed"`
	MPI     uint64  `json:"mpi"`
	Waiting *uint64 `json:"waiting"` // null: unknown of all
	Lost    uint64  `json:"lost"`
}

// FleetRun names a run.
type FleetRun struct {
	Run     string     `json:"run"`
	Started *time.Time `json:"started"` // null: unknown
	BuildID string     `json:"buildId"`
	Time    uint64     `json:"time"` // of the slowest rank
}

// FleetChange is a run that took longer than is usual.
type FleetChange struct {
	Program   string            `json:"program"`
	Arguments []string          `json:"arguments"`
	User      string            `json:"user"`
	Ranks     int               `json:"ranks"`
	Run       FleetRun          `json:"run"`
	Before    FleetRun          `json:"before"`
	Earlier   int               `json:"earlier"`
	Percent   float64           `json:"percent"`
	Rebuilt   bool              `json:"rebuilt"`
	Compute   int64             `json:"compute"`
	Sites     []FleetDifference `json:"sites"`
}

// FleetDifference is the time of the calls at a callsite for each rank.
type FleetDifference struct {
	Op     string `json:"op"`
	Site   string `json:"site"`
	Before uint64 `json:"before"`
	After  uint64 `json:"after"`
}

// FleetSeries is how a program scales.
type FleetSeries struct {
	Program string       `json:"program"`
	Points  []FleetPoint `json:"points"`
}

// FleetPoint are the runs of a program with a number of ranks.
type FleetPoint struct {
	Ranks   int      `json:"ranks"`
	Runs    int      `json:"runs"`
	Time    uint64   `json:"time"`
	Outside float64  `json:"outside"`
	Waiting *float64 `json:"waiting"` // null: unknown
}

// mostSites is how many callsites a change has.
const mostSites = 5

// NewFleet makes the document of runs. top bounds the lists of programs, users and changes; 0: all.
func NewFleet(runs []*fleet.Run, unread []Unread, percent float64, top int) *Fleet {
	d := &Fleet{
		Schema: "efg-fleet/1", Version: 1, Runs: len(runs), Unread: append([]Unread{}, unread...),
		Programs: fleetUses(first(fleet.ByProgram(runs), top)), Users: fleetUses(first(fleet.ByUser(runs), top)),
		Slower: []FleetChange{}, Scaling: []FleetSeries{},
	}
	for _, r := range runs {
		if !r.Timed {
			d.Untimed++
		}
	}
	for _, c := range first(fleet.Slower(runs, percent), top) {
		d.Slower = append(d.Slower, fleetChange(&c))
	}
	for _, s := range fleet.Scaling(runs) {
		series := FleetSeries{Program: s.Program}
		for _, p := range s.Points {
			point := FleetPoint{Ranks: p.Ranks, Runs: p.Runs, Time: p.Slowest, Outside: p.Outside}
			if p.Waiting >= 0 {
				point.Waiting = &p.Waiting
			}
			series.Points = append(series.Points, point)
		}
		d.Scaling = append(d.Scaling, series)
	}
	return d
}

// first are the first elements of a list; 0: all.
func first[T any](list []T, top int) []T {
	if top > 0 && len(list) > top {
		return list[:top]
	}
	return list
}

func fleetUses(list []fleet.Use) []FleetUse {
	uses := []FleetUse{}
	for _, u := range list {
		x := FleetUse{Name: u.Name, Runs: u.Runs, Timed: u.Timed, Matched: u.Matched, Ranks: u.Ranks, Elapsed: u.Elapsed, MPI: u.MPI, Lost: u.Lost}
		if u.Matched > 0 {
			x.Waiting = &u.Waiting
		}
		uses = append(uses, x)
	}
	return uses
}

func fleetChange(c *fleet.Change) FleetChange {
	x := FleetChange{
		Program: c.Run.Program, Arguments: []string{}, User: c.Run.User, Ranks: c.Run.Ranks, Run: fleetRun(c.Run), Before: fleetRun(c.Before),
		Earlier: c.Earlier, Percent: c.Slower, Rebuilt: c.Rebuilt, Compute: c.Compute, Sites: []FleetDifference{},
	}
	if json.Unmarshal([]byte(c.Run.Arguments), &x.Arguments) != nil {
		x.Arguments = []string{}
	}
	for _, s := range first(c.Sites, mostSites) {
		x.Sites = append(x.Sites, FleetDifference{s.Op, s.Place, s.Before, s.After})
	}
	return x
}

func fleetRun(r *fleet.Run) FleetRun {
	x := FleetRun{Run: r.Name, BuildID: r.BuildID, Time: r.Slowest}
	if !r.Started.IsZero() {
		x.Started = &r.Started
	}
	return x
}
