package timeline

import (
	"encoding/json"
	"io"

	"github.com/efg-tools/efg/internal/palette"
)

// Schema is the version of what Encode writes.
const Schema = "efg-timeline/1"

// Header is the line of JSON that Encode writes; the package's comment describes it.
type Header struct {
	Schema     string        `json:"schema"`
	Begin      int64         `json:"begin"`
	End        int64         `json:"end"`
	Work       [2]int64      `json:"work"`
	From       int64         `json:"from"`
	To         int64         `json:"to"`
	Pixel      int64         `json:"pixel"`
	Width      int           `json:"width"`
	Rows       [][4]int      `json:"rows"`
	Members    []string      `json:"members,omitempty"`
	Complete   bool          `json:"complete"`
	Legend     []LegendEntry `json:"legend"`
	Share      bool          `json:"share"`
	Slices     [][6]int64    `json:"slices"`
	Sites      []string      `json:"sites"`
	Unfinished []int         `json:"unfinished,omitempty"`
}

// LegendEntry is a procedure in a Header.
type LegendEntry struct {
	Op     string `json:"op"`
	Class  string `json:"class"`
	Colour string `json:"colour"` // as CSS has it: "#0072b2"
	Time   uint64 `json:"time"`
	Apart  bool   `json:"apart,omitempty"`
}

// Header returns the view's header.
func (v *View) Header() *Header {
	h := &Header{
		Schema: Schema, Begin: v.Begin, End: v.End, Work: v.Work, From: v.From, To: v.To(), Pixel: v.Pixel, Width: v.Width,
		Rows: [][4]int{}, Complete: v.Complete, Legend: []LegendEntry{}, Share: v.Share != nil, Sites: []string{},
	}
	for _, r := range v.Rows {
		h.Rows = append(h.Rows, [4]int{r.First, r.Last, r.Ranks, r.Read})
		if r.Members != "" {
			h.Members = append(h.Members, r.Members)
		}
	}
	for _, p := range v.Legend {
		h.Legend = append(h.Legend, LegendEntry{p.Op, p.Class, palette.Hex(palette.Of(p.Op)), p.Time, p.Apart})
	}
	if v.Slices == nil {
		return h
	}
	h.Slices = [][6]int64{}
	at := map[string]int{}
	for _, s := range v.Slices {
		k, ok := at[s.Site]
		if !ok {
			k = len(h.Sites)
			at[s.Site] = k
			h.Sites = append(h.Sites, s.Site)
		}
		if s.Unfinished {
			h.Unfinished = append(h.Unfinished, len(h.Slices))
		}
		h.Slices = append(h.Slices, [6]int64{int64(s.Rank), int64(s.Thread), s.Start, s.End, int64(s.Proc), int64(k)})
	}
	return h
}

// Encode writes the view as the package's comment describes.
func (v *View) Encode(w io.Writer) error {
	if err := json.NewEncoder(w).Encode(v.Header()); err != nil {
		return err
	}
	if _, err := w.Write(v.Pixels); err != nil {
		return err
	}
	_, err := w.Write(v.Share)
	return err
}
