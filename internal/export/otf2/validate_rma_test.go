package otf2

import (
	"errors"
	"fmt"
	"slices"

	reader "github.com/efg-tools/efg/internal/importer/otf2"
)

// validateObjects checks windows, files and communicators: what is used exists, accesses and operations
// are complete once, and all members of a window's communicator make the same collective calls.
func (d *decoded) validateObjects(part bool) (err error) {
	collectives := map[uint64][][]byte{} // by window: of each process
	for i := range d.Locations {
		x := objects{windows: map[uint64]bool{}, files: map[uint64]bool{}, open: map[[2]uint64]int{}, part: part, calls: map[uint64][]byte{}}
		for _, e := range d.events[i] {
			if what := x.take(e); what != "" {
				err = errors.Join(err, fmt.Errorf("location %d: %s at %d: %v", i, what, e.Time, e.Fields))
			}
		}
		for window, list := range x.calls {
			collectives[window] = append(collectives[window], list)
		}
	}
	for window, lists := range collectives {
		for _, list := range lists[1:] {
			if !slices.Equal(list, lists[0]) {
				err = errors.Join(err, fmt.Errorf("window %d: %d collective calls of one process, %d of another", window, len(lists[0]), len(list)))
			}
		}
	}
	return err
}

// objects are what a location uses; operations are 1 if they are in progress, and 2 if they are complete at the origin.
type objects struct {
	windows, files map[uint64]bool
	open           map[[2]uint64]int
	calls          map[uint64][]byte
	part           bool // of the time: windows and files are there from the beginning
	begun          int
}

// take takes an event, and returns what is wrong with it.
func (x *objects) take(e reader.Event) string {
	f := e.Fields
	const ofFile = 1 << 40
	step := func(object, id uint64, from, to int) string {
		k := [2]uint64{object, id}
		if x.open[k] != from {
			return "out of order"
		}
		if x.open[k] = to; to == 3 {
			delete(x.open, k)
		}
		return ""
	}
	switch e.Kind {
	case reader.RmaWinCreate:
		x.windows[f[0]] = true
	case reader.RmaWinDestroy:
		if !x.windows[f[0]] && !x.part {
			return "no window"
		}
		delete(x.windows, f[0])
	case reader.RmaCollectiveBegin:
		x.begun++
	case reader.RmaCollectiveEnd:
		x.calls[f[2]] = append(x.calls[f[2]], byte(f[0]))
		if x.begun--; x.begun < 0 {
			return "a collective ends that has not begun"
		}
	case reader.RmaPut, reader.RmaGet, reader.RmaAtomic:
		if !x.windows[f[0]] && !x.part {
			return "no window"
		}
		return step(f[0], f[len(f)-1], 0, 1)
	case reader.RmaOpCompleteNonBlocking:
		return step(f[0], f[1], 1, 2)
	case reader.RmaOpCompleteRemote:
		return step(f[0], f[1], 2, 3)
	case reader.IoCreateHandle:
		x.files[f[0]] = true
	case reader.IoDestroyHandle:
		if !x.files[f[0]] {
			return "no file"
		}
		delete(x.files, f[0])
	case reader.IoOperationBegin:
		if !x.files[f[0]] && !x.part {
			return "no file"
		}
		return step(f[0]+ofFile, f[4], 0, 2)
	case reader.IoOperationComplete:
		return step(f[0]+ofFile, f[2], 2, 3)
	}
	return ""
}
