// Package network measures the network of a machine with a small MPI program, and keeps its LogGPS
// parameters in a file: docs/whatif.md describes it.
package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"
)

// Schema names the format of the file.
const Schema = "efg-network/1"

// Network is what was measured of a machine.
type Network struct {
	Schema   string    `json:"schema"`
	Measured time.Time `json:"measured"`
	Launcher []string  `json:"launcher"`
	MPI      string    `json:"mpi"` // version of the library
	Ranks    int       `json:"ranks"`
	Hosts    int       `json:"hosts"`
	Classes  []Class   `json:"classes"`
}

// Classes of pairs of ranks.
const (
	SameHost  = "same-host"
	OtherHost = "other-host"
)

// Class has the LogGPS parameters of the pairs of a class: the medians of those that were measured.
// Times are in ns.
type Class struct {
	Class string `json:"class"`
	Pairs int    `json:"pairs"`
	// Latency is L: from when a small message was sent until it is there. Overhead is o: what a
	// processor takes to send or to receive it, the mean of both. Gap is g: between small messages
	// that follow each other. PerByte is G.
	Latency  float64 `json:"latency"`
	Overhead float64 `json:"overhead"`
	Gap      float64 `json:"gap"`
	PerByte  float64 `json:"per_byte"`
	// EagerLimit is S: the largest message, in bytes, whose sender does not wait for its receiver; nil: none
	// of those that were sent was too large.
	EagerLimit *int `json:"eager_limit"`
	// Times are those of messages by their size: half of a round trip.
	Times []Time `json:"times"`
}

// Time is what a message takes.
type Time struct {
	Bytes int     `json:"bytes"`
	Time  float64 `json:"time"` // ns
}

// Class returns the class of that name, nil if there is none.
func (n *Network) Class(name string) *Class {
	i := slices.IndexFunc(n.Classes, func(c Class) bool { return c.Class == name })
	if i < 0 {
		return nil
	}
	return &n.Classes[i]
}

// mostBytes bounds a file.
const mostBytes = 1 << 20

// Read reads a file. Its errors do not name it.
func Read(path string) (*Network, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	return Parse(data)
}

// Parse reads what a file has.
func Parse(data []byte) (*Network, error) {
	n := &Network{}
	if err := json.Unmarshal(data, n); err != nil || len(data) > mostBytes {
		return nil, errors.New("is not a network measured by efg measure-network")
	}
	if n.Schema != Schema {
		return nil, fmt.Errorf("has the schema %q, want %s", n.Schema, Schema)
	}
	for i := range n.Classes {
		if err := n.Classes[i].check(); err != nil {
			return nil, err
		}
	}
	if n.Class(SameHost) == nil && n.Class(OtherHost) == nil {
		return nil, fmt.Errorf("has parameters neither of %s nor of %s", SameHost, OtherHost)
	}
	return n, nil
}

// mostTime bounds parameters, ns.
const mostTime = 1e12

func (c *Class) check() error {
	if c.Class != SameHost && c.Class != OtherHost {
		return fmt.Errorf("has the class %q, want %s or %s", c.Class, SameHost, OtherHost)
	}
	for name, v := range map[string]float64{"latency": c.Latency, "overhead": c.Overhead, "gap": c.Gap, "per_byte": c.PerByte} {
		if !(v >= 0 && v <= mostTime) {
			return fmt.Errorf("%s: %s is %g: want a number from 0 to %g", c.Class, name, v, mostTime)
		}
	}
	return nil
}

// pair is what was measured between two ranks.
type pair struct {
	class              string
	times              []Time
	send, receive, gap float64
	eager              int
}

// manyBytes are those of large messages, whose time per byte is G.
const manyBytes = 1 << 14

// parameters are L, o and G of a pair: half of a round trip of n bytes takes L + 2·o + (n-1)·G.
func (p *pair) parameters() (latency, overhead, perByte float64) {
	if len(p.times) == 0 {
		return 0, 0, 0
	}
	small := p.times[0].Time
	overhead = min((p.send+p.receive)/2, small/2)
	var slopes []float64 // between each two sizes, of which the median is robust
	for i, a := range p.times {
		for _, b := range p.times[i+1:] {
			if a.Bytes >= manyBytes {
				slopes = append(slopes, (b.Time-a.Time)/float64(b.Bytes-a.Bytes))
			}
		}
	}
	return small - 2*overhead, overhead, max(median(slopes), 0)
}

// median is 0 of nothing.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}

// classOf joins the pairs of a class.
func classOf(name string, pairs []pair) (c Class, found bool) {
	var latency, overhead, gap, perByte, eager []float64
	bySize := map[int][]float64{}
	for i := range pairs {
		p := &pairs[i]
		if p.class != name {
			continue
		}
		l, o, g := p.parameters()
		latency, overhead, perByte, gap = append(latency, l), append(overhead, o), append(perByte, g), append(gap, p.gap)
		limit := math.Inf(1)
		if p.eager >= 0 {
			limit = float64(p.eager)
		}
		eager = append(eager, limit)
		for _, t := range p.times {
			bySize[t.Bytes] = append(bySize[t.Bytes], t.Time)
		}
	}
	c = Class{Class: name, Pairs: len(latency), Latency: median(latency), Overhead: median(overhead), Gap: median(gap), PerByte: median(perByte), Times: []Time{}}
	if len(eager) == 0 {
		return c, false
	}
	slices.Sort(eager)
	if limit := eager[(len(eager)-1)/2]; !math.IsInf(limit, 1) {
		bytes := int(limit)
		c.EagerLimit = &bytes
	}
	for size, times := range bySize {
		c.Times = append(c.Times, Time{size, median(times)})
	}
	slices.SortFunc(c.Times, func(a, b Time) int { return a.Bytes - b.Bytes })
	return c, true
}
