package whatif

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/efg-tools/efg/internal/rankset"
)

// ParseChange reads "rank 0-3,7: 0.9", "site foo.c:88: 0.5" or "all: 2": what is computed, and by
// which factor the time for it changes.
func ParseChange(text string) (c Change, err error) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return c, changeError(text)
	}
	c.Factor, err = strconv.ParseFloat(strings.TrimSpace(text[i+1:]), 64)
	if err != nil || math.IsNaN(c.Factor) || c.Factor < 0 || c.Factor > mostFactor {
		return c, fmt.Errorf("%q: the factor must be a number from 0 to %d", text, mostFactor)
	}
	what, of, _ := strings.Cut(strings.TrimSpace(text[:i]), " ")
	of = strings.TrimSpace(of)
	switch {
	case what == "all" && of == "":
		return c, nil
	case what == "site" && of != "":
		c.Site = of
		return c, nil
	case what == "rank" && of != "":
		if c.Ranks, err = rankset.Parse(of); err != nil {
			return c, fmt.Errorf("%q: %w", text, err)
		}
		return c, nil
	}
	return c, changeError(text)
}

const mostFactor = 1_000_000

func changeError(text string) error {
	return fmt.Errorf(`%q: want "rank 0-3: 0.9", "site foo.c:88: 0.5" or "all: 2"`, text)
}

// ParseTime reads a time like 1.5us, in ns.
func ParseTime(text string) (float64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time: want one like 500ns or 1.5us", text)
	}
	return float64(d), nil
}

// bandwidths are units in bytes per ns.
var bandwidths = map[string]float64{
	"B/s": 1e-9, "kB/s": 1e-6, "MB/s": 1e-3, "GB/s": 1, "TB/s": 1e3, "KiB/s": 1024e-9, "MiB/s": 1048576e-9, "GiB/s": 1073741824e-9,
	"Mbit/s": 1e-3 / 8, "Gbit/s": 1.0 / 8, "Tbit/s": 1e3 / 8,
}

// ParseBandwidth reads a bandwidth like 12GB/s or 100Gbit/s, and returns the time per byte in ns.
func ParseBandwidth(text string) (float64, error) {
	end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end > 0 {
		v, err := strconv.ParseFloat(text[:end], 64)
		unit, known := bandwidths[strings.TrimSpace(text[end:])]
		if err == nil && known && v > 0 {
			return 1 / (v * unit), nil
		}
	}
	return 0, fmt.Errorf("%q is no bandwidth: want one like 12GB/s or 100Gbit/s", text)
}
