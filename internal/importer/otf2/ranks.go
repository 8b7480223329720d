package otf2

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxRank bounds the ranks.
const maxRank = 1 << 24

// rank is a process with a rank.
type rank struct {
	number    int
	name      string
	host      string
	locations []Location
}

// findRanks finds the processes in the order of their ranks, and counts the locations that are none
// of their threads.
func (r *reader) findRanks() error {
	d := r.archive.Definitions
	groups, groupOf := map[uint64]*LocationGroup{}, map[uint64]uint64{}
	for i := range d.Processes {
		groups[d.Processes[i].ID] = &d.Processes[i]
	}
	for _, l := range d.Locations {
		groupOf[l.ID] = l.Group
	}
	r.masters = d.masters()
	indexes := map[uint64]int{} // by location group
	for i, location := range r.masters {
		group, ok := groupOf[location]
		g := groups[group]
		if !ok || g == nil {
			return r.defective("the process of rank %d is not defined", i)
		}
		if _, twice := indexes[group]; twice {
			return r.defective("process %d has several ranks", group)
		}
		indexes[group] = i
		r.ranks = append(r.ranks, rank{number: i, name: g.Name, host: d.host(g.Parent)})
	}
	if len(r.ranks) == 0 {
		return r.defective("no processes")
	}
	for _, l := range d.Locations {
		i, ok := indexes[l.Group]
		if !ok || l.Type != CPUThread {
			r.skipped.locations++
			continue
		}
		r.ranks[i].locations = append(r.ranks[i].locations, l)
	}
	r.numberRanks()
	return nil
}

// defective is an error in the definitions.
func (r *reader) defective(format string, args ...any) error {
	return &Error{r.archive.name + ".def", -1, fmt.Errorf(format, args...)}
}

// masters are the locations that stand for the processes, in the order of their ranks: those that
// communicate by MPI or, if there are none, the first one of each process.
func (d *Definitions) masters() (list []uint64) {
	for _, g := range d.Groups {
		if g.Type == CommLocations && g.Paradigm == ParadigmMPI {
			return g.Members
		}
	}
	first := map[uint64]uint64{}
	for i := len(d.Locations) - 1; i >= 0; i-- {
		first[d.Locations[i].Group] = d.Locations[i].ID
	}
	for _, g := range d.Processes {
		if location, ok := first[g.ID]; ok && g.Type == ProcessGroup {
			list = append(list, location)
		}
	}
	return list
}

// numberRanks takes the ranks from the names of the processes, as in "MPI Rank 5", if these are in
// order: of an archive of a part of a run, some are missing.
func (r *reader) numberRanks() {
	numbers, last := make([]int, len(r.ranks)), -1
	for i := range r.ranks {
		text, ok := strings.CutPrefix(r.ranks[i].name, "MPI Rank ")
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n <= last || n >= maxRank {
			return
		}
		numbers[i], last = n, n
	}
	for i, n := range numbers {
		r.ranks[i].number = n
	}
}

// host is the name of the host that a node of the system tree belongs to, "" if it is unknown.
func (d *Definitions) host(node uint64) string {
	const deepest = 64
	for range deepest {
		n, ok := d.SystemTree[node]
		if !ok || n.Class == "node" {
			return n.Name
		}
		node = n.Parent
	}
	return ""
}

var errMember = errors.New("has a member that is no process")

// membersOf are the ranks of the members of a group.
func (r *reader) membersOf(g *Group) ([]int, error) {
	if list, ok := r.lists[g.ID]; ok {
		return list, nil
	}
	list := make([]int, 0, len(g.Members))
	for _, m := range g.Members {
		i, ok := r.indexOf[m]
		if !g.Global {
			i, ok = int(min(m, maxRank)), m < uint64(len(r.ranks))
		}
		if !ok {
			return nil, r.defective("group %d %w", g.ID, errMember)
		}
		list = append(list, r.ranks[i].number)
	}
	r.lists[g.ID] = list
	return list, nil
}
