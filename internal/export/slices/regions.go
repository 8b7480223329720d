package slices

// openRegion is a region in which the thread at hand is.
type openRegion struct {
	frame int32
	begun int64
	drawn bool
}

// toFrame leaves and enters regions so that the thread is in those of a frame.
func (w *writer) toFrame(frame int32, at int64) error {
	if w.frame == frame {
		return nil
	}
	w.frame = frame
	chain := w.regions.Chain(frame)
	common := 0
	for common < min(len(chain), len(w.open)) && chain[common] == w.open[common].frame {
		common++
	}
	if err := w.leave(common, at); err != nil {
		return err
	}
	for _, f := range chain[common:] {
		w.open = append(w.open, openRegion{frame: f, begun: at})
		if w.resolution == 0 {
			if err := w.draws(len(w.open) - 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// leave leaves all but the outermost regions. Those that are shorter than the resolution are not drawn;
// the others, and those around them, are from then on.
func (w *writer) leave(but int, at int64) error {
	for n := len(w.open) - 1; n >= but; n-- {
		r := &w.open[n]
		if !r.drawn && at-r.begun >= w.resolution {
			if err := w.draws(n); err != nil {
				return err
			}
		}
		if r.drawn {
			if err := w.sink.Leave(at); err != nil {
				return err
			}
		}
	}
	w.open = w.open[:min(but, len(w.open))]
	return nil
}

// draws draws that a region and those around it were entered.
func (w *writer) draws(n int) error {
	for i := range w.open[:n+1] {
		r := &w.open[i]
		if r.drawn {
			continue
		}
		r.drawn = true
		if err := w.sink.Enter(w.regions.Name(r.frame), r.begun); err != nil {
			return err
		}
	}
	return nil
}
