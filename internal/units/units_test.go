package units

import "testing"

func TestUnits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Nanoseconds(0), "0 ns"},
		{Nanoseconds(999), "999 ns"},
		{Nanoseconds(999.6), "1.00 µs"},
		{Nanoseconds(1234), "1.23 µs"},
		{Nanoseconds(12345678), "12.3 ms"},
		{Nanoseconds(2e12), "2000 s"},
		{Bytes(0), "0 B"},
		{Bytes(1023), "1023 B"},
		{Bytes(1536), "1.50 KiB"},
		{Bytes(1 << 60), "1.00 EiB"},
		{Count(0), "0"},
		{Count(950), "950"},
		{Count(1.2e6), "1.20 M"},
		{Seconds(0), "0 s"},
		{Seconds(12500000), "0.0125 s"},
		{Seconds(-1), "-0.000000001 s"},
		{Percent(1, 0), "-"},
		{Percent(1, 3), "33.3%"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
