package segment

import "github.com/efg-tools/efg/efg"

// optionTSC in Header.Options: ticks are those of the time stamp counter, not ns of
// CLOCK_MONOTONIC.
const optionTSC = 8

// StartMono is CLOCK_MONOTONIC, ns, at StartReal.
func (h *Header) StartMono() uint64 { return h.Start.Mono - (h.Start.Real - h.StartReal) }

// LastMono is CLOCK_MONOTONIC, ns, of the newest anchor: the process was there.
func (h *Header) LastMono() uint64 { return h.last().Mono }

func (h *Header) last() *Anchor {
	if h.NLater == 0 {
		return &h.Start
	}
	return &h.Later[(h.NLater-1)&1]
}

// assumed is an anchor a few milliseconds after the start for processes that have not come to
// take a second one, made of the estimated rate. The estimate's error is in its width.
func (h *Header) assumed() Anchor {
	const ticks, width = 1 << 24, 1 << 11
	ns := efg.MachineClock{Rate: h.TickMult << (efg.RateBits - 32)}.Since(ticks, 0)
	return Anchor{h.Start.Tick + ticks, h.Start.Mono + ns, h.Start.Real + ns, width}
}

// anchors are the first and the newest anchor; nil if the ticks are ns of CLOCK_MONOTONIC, or
// there are none.
func (h *Header) anchors() []efg.Anchor {
	if h.Options&optionTSC == 0 || h.TimeMode == timesOff {
		return nil
	}
	last := *h.last()
	if last.Tick == h.Start.Tick {
		last = h.assumed()
	}
	var list []efg.Anchor
	for _, a := range []*Anchor{&h.Start, &last} {
		list = append(list, efg.Anchor{Tick: a.Tick, Mono: a.Mono, Real: int64(a.Real), Width: a.Width})
	}
	return list
}

// clock is the machine's clock as the process alone knows it.
func (h *Header) clock() efg.MachineClock {
	clock, _ := efg.FitClock(h.anchors())
	return clock
}
