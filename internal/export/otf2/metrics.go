package otf2

import (
	"slices"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis/counted"
	"github.com/efg-tools/efg/reconstruct"
)

// Records of metrics, by their numbers in OTF2.
const (
	eventMetric     = 31
	defMetricMember = 19
	defMetricClass  = 20
)

// metrics are what was counted in calls (efg run --counters): a class for each set of counters that
// processes have read.
type metrics struct {
	members []member
	classes [][]int // numbers of members
}

// member is a counter; each: each call has its own value.
type member struct {
	efg.Counter
	each bool
}

// add returns the number of the class of the counters of a thread.
func (m *metrics) add(d *definitions, of *counted.Shares) uint32 {
	var class []int
	for _, counter := range of.Counters {
		c := member{counter, of.Each}
		at := slices.Index(m.members, c)
		if at < 0 {
			at = len(m.members)
			m.members = append(m.members, c)
			for _, s := range []string{c.Name, metricText(c), metricUnit(c.Counter)} {
				d.text(s)
			}
		}
		class = append(class, at)
	}
	for i := range m.classes {
		if slices.Equal(m.classes[i], class) {
			return uint32(i)
		}
	}
	m.classes = append(m.classes, class)
	return uint32(len(m.classes) - 1)
}

// metricText says where the values come from.
func metricText(c member) string {
	text := "each call has the mean of its node"
	if c.each {
		text = "counted at each call"
	}
	if c.State&efg.CounterMultiplexed != 0 {
		text += "; multiplexed: counted only a part of the time"
	}
	return text
}

// metricUnit is what Score-P writes, too, for numbers of events.
func metricUnit(c efg.Counter) string {
	if c.Unit == "" {
		return "#"
	}
	return c.Unit
}

// write writes the definitions.
func (m *metrics) write(w *definitionWriter) {
	const other, accumulatedStart, decimal, synchronous, recorderUnknown = 0, 0, 1, 1, 0
	for i, c := range m.members {
		w.add(defMetricMember, func(b []byte) []byte {
			b = u32(u32(u32(b, uint32(i)), w.text(c.Name)), w.text(metricText(c)))
			return u32(i64(append(b, other, accumulatedStart, typeUint64, decimal), 0), w.text(metricUnit(c.Counter)))
		})
	}
	for i, class := range m.classes {
		w.add(defMetricClass, func(b []byte) []byte {
			b = append(u32(b, uint32(i)), byte(len(class)))
			for _, k := range class {
				b = u32(b, uint32(k))
			}
			return append(b, synchronous, recorderUnknown)
		})
	}
}

// threadMetrics are the metrics of a thread; shares is nil if it has none.
type threadMetrics struct {
	shares *counted.Shares
	class  uint32
}

// newThreadMetrics also defines their class, unless it is known.
func (a *archive) newThreadMetrics(p *efg.Process, stream int) threadMetrics {
	m := threadMetrics{shares: counted.NewShares(p, stream)}
	if m.shares != nil {
		m.class = a.defs.metrics.add(a.defs, m.shares)
	}
	return m
}

// countStart and countEnd write what has been counted in the thread up to the start, or the end, of the call at
// hand. Calls inside others are not counted themselves.
func (t *threadWriter) countStart(e *reconstruct.Event) {
	if t.metrics.shares != nil && e.Depth() == 0 {
		t.atStart(t.metric(t.metrics.shares.Enter(e.Node(), e.Counters())), nil)
	}
}

func (t *threadWriter) countEnd(e *reconstruct.Event) {
	if t.metrics.shares != nil && e.Depth() == 0 {
		t.atEnd(t.metric(t.metrics.shares.Leave(e.Node(), e.Counters())), nil)
	}
}

// count adds the call at hand to what is written next.
func (t *threadWriter) count(e *reconstruct.Event) {
	if t.metrics.shares != nil && e.Depth() == 0 {
		t.metrics.shares.Enter(e.Node(), e.Counters())
		t.metrics.shares.Leave(e.Node(), e.Counters())
	}
}

// metric is the record of some values.
func (t *threadWriter) metric(values []uint64) []byte {
	return record(t.b[:0], eventMetric, func(b []byte) []byte {
		b = append(u32(b, t.metrics.class), byte(len(values)))
		for _, v := range values {
			b = u64(append(b, typeUint64), v)
		}
		return b
	})
}
