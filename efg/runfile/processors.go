package runfile

import (
	"cmp"
	"fmt"
	"slices"
)

// Processors says how many processors a command could use on a host.
type Processors struct {
	Host  string
	Count int
}

// Text is how a file has it: the number and the host, separated by a space.
func (p *Processors) Text() string { return fmt.Sprintf("%d %s", p.Count, p.Host) }

// ProcessorsOf are the processors that a file says, by host, without what no version has written.
func (m *Meta) ProcessorsOf() (list []Processors) {
	for _, text := range m.Processors {
		var p Processors
		if n, _ := fmt.Sscanf(text, "%d %s", &p.Count, &p.Host); n == 2 && p.Count > 0 {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(x, y Processors) int { return cmp.Or(cmp.Compare(x.Host, y.Host), cmp.Compare(y.Count, x.Count)) })
	return list
}

// maxProcessors bounds Meta.Processors.
const maxProcessors = 16384

// joinProcessors combines the processors of parts. Parts of one host may have been restricted to different
// processors: the largest number of these counts.
func joinProcessors(a, b []string) (texts []string) {
	if len(a)+len(b) == 0 {
		return nil
	}
	both := Meta{Processors: slices.Concat(a, b)}
	last := ""
	for _, p := range both.ProcessorsOf() {
		if p.Host != last && len(texts) < maxProcessors {
			texts = append(texts, p.Text())
		}
		last = p.Host
	}
	return texts
}
