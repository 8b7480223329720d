package jsondoc

import (
	"github.com/efg-tools/efg/internal/analysis/visits"
	"github.com/efg-tools/efg/internal/palette"
)

// Visits say when ranks were in the regions that the program names, for a picture of a part of the time;
// docs/timeline.md describes the document. Times are in nanoseconds since the run began.
type Visits struct {
	Schema   string          `json:"schema"`
	File     string          `json:"file"`
	From     int64           `json:"from"`
	To       int64           `json:"to"`
	Pixel    int64           `json:"pixel"`
	Depth    int             `json:"depth"`
	Complete bool            `json:"complete"`
	LeftOut  int             `json:"left_out"`
	Regions  []VisitedRegion `json:"regions"`
	Tracks   []VisitsTrack   `json:"tracks"`
}

// VisitedRegion is a region of Visits.
type VisitedRegion struct {
	Region []string `json:"region"` // the outermost first
	Colour string   `json:"colour"` // as CSS has it: "#0072b2"
	Visits uint64   `json:"visits"`
	Time   int64    `json:"time"`
}

// VisitsTrack is the visits of a thread.
type VisitsTrack struct {
	Rank   int    `json:"rank"`
	Thread uint32 `json:"thread"`
	// Visits are [depth, region, begin, end, visits, time, kind]; kinds are added up: 1 the visit was not
	// ended, 2 visits of several regions are joined.
	Visits [][7]int64 `json:"visits"`
}

// Kinds of visits.
const (
	openVisit  = 1
	mixedVisit = 2
)

// NewVisits makes the document.
func NewVisits(file string, v *visits.View) *Visits {
	j := &Visits{
		Schema: "efg-timeline-regions/1", File: file, From: v.From, To: v.To, Pixel: v.Pixel, Depth: v.Depth, Complete: v.Complete, LeftOut: v.LeftOut,
		Regions: []VisitedRegion{}, Tracks: []VisitsTrack{},
	}
	for i := range v.Regions {
		r := &v.Regions[i]
		j.Regions = append(j.Regions, VisitedRegion{append([]string{}, r.Names...), palette.Hex(palette.Region(r.Name())), r.Visits, r.Time})
	}
	for i := range v.Tracks {
		t := &v.Tracks[i]
		track := VisitsTrack{t.Rank, t.Thread, make([][7]int64, len(t.Visits))}
		for k := range t.Visits {
			x := &t.Visits[k]
			kind := int64(0)
			if x.Open {
				kind |= openVisit
			}
			if x.Mixed {
				kind |= mixedVisit
			}
			track.Visits[k] = [7]int64{int64(x.Depth), int64(x.Region), x.Begin, x.End, int64(x.Visits), x.Time, kind}
		}
		j.Tracks = append(j.Tracks, track)
	}
	return j
}

// compact: there are too many visits for a line each.
func (*Visits) compact() {}
