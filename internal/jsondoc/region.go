package jsondoc

import "github.com/efg-tools/efg/internal/analysis/regions"

// Region is a region that the program names, with the regions around it.
type Region struct {
	Region []string `json:"region"` // the outermost first; none: outside of all
	Visits uint64   `json:"visits"`
	Ranks  int      `json:"ranks"`
	// Own is without the regions in it, All with them.
	Own  RegionSums  `json:"own"`
	All  RegionSums  `json:"all"`
	Time *RegionTime `json:"time,omitempty"`
}

// RegionSums are calls of MPI, and times in nanoseconds, summed over ranks.
type RegionSums struct {
	Calls    uint64   `json:"calls"`
	Sent     uint64   `json:"sent"`
	Received uint64   `json:"received"`
	Read     uint64   `json:"read"`
	Written  uint64   `json:"written"`
	Time     *float64 `json:"time,omitempty"`
	MPI      *float64 `json:"mpi,omitempty"`
	Waiting  *int64   `json:"waiting,omitempty"`
}

// RegionTime says how the ranks share the work in a region and those in it.
type RegionTime struct {
	Useful      float64 `json:"useful"`
	MostUseful  float64 `json:"most_useful"`
	MostRank    int     `json:"most_rank"`
	MostTime    float64 `json:"most_time"`
	LoadBalance float64 `json:"load_balance"`
	About       bool    `json:"about"`
}

// NewRegions returns the rows of a report by region.
func NewRegions(rep *regions.Report) []Region {
	list := []Region{}
	for i := range rep.Rows {
		r := &rep.Rows[i]
		j := Region{Region: append([]string{}, r.Names...), Visits: r.Visits, Ranks: r.Ranks, Own: asRegionSums(rep, &r.Own), All: asRegionSums(rep, &r.All)}
		if rep.Timed {
			j.Time = &RegionTime{r.Useful(), r.MostUseful, r.MostRank, r.MostTime, r.LoadBalance(), r.About}
		}
		list = append(list, j)
	}
	return list
}

func asRegionSums(rep *regions.Report, s *regions.Sums) RegionSums {
	v := &s.Volume
	j := RegionSums{Calls: s.Calls, Sent: v.Sent, Received: v.Received, Read: v.Read, Written: v.Written}
	if rep.Timed {
		j.Time, j.MPI = &s.Time, &s.MPI
	}
	if rep.Waits {
		j.Waiting = &s.Waiting
	}
	return j
}
