package runfile

import (
	"reflect"
	"slices"
	"testing"
)

// Parts of different machines have all energies; of those of one machine the longest reading counts.
func TestEnergyOfParts(t *testing.T) {
	short, long := Energy{"a", "package-0", 5, 100}, Energy{"a", "package-0", 4, 200}
	other, memory := Energy{"b", "package-0", 7, 50}, Energy{"a", "package-0/dram", 3, 100}
	core, board := Energy{"a", "package-0/core", 2, 100}, Energy{"b", "psys", 90, 50}
	parts := [][]Energy{{short, memory}, {other, board}, {long, core}}
	want := []Energy{long, core, memory, other, board}
	for range 2 {
		var m Meta
		for _, p := range parts {
			m.Join(&Meta{Energy: EnergyTexts(p)})
		}
		m.Join(&m)
		if got := m.EnergyOf(); !reflect.DeepEqual(got, want) || EnergyTotal(got) != 4+3+7 {
			t.Errorf("%+v, %d in all", got, EnergyTotal(got))
		}
		slices.Reverse(parts)
	}
	bad := Meta{Energy: []string{"", "x", "1 2", "-1 2 package-0 a", "1 99999999999999999999 package-0 a", "1 2 package-0", "3 4 psys h x"}}
	if got, want := bad.EnergyOf(), []Energy{{"", "package-0", 1, 2}, {"h", "psys", 3, 4}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
