package mix

import "testing"

// A chance moves as far as the division says by which the format defines it.
func TestUpdate(t *testing.T) {
	for n := range chance(countLimit + 1) {
		for p := int64(0); p < 1<<22; p += 1 + p%97 {
			for _, b := range []bool{false, true} {
				target := int64(0)
				if b {
					target = 1<<22 - 1
				}
				want := chance(p+(target-p)*2/int64(2*n+3))<<countBits | min(n+1, countLimit)
				c := chance(p)<<countBits | n
				if c.update(b); c != want {
					t.Fatalf("%d updates, %d of 2^22, %v: %x, want %x", n, p, b, c, want)
				}
			}
		}
	}
}
