package replay_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/efg-tools/efg/efg/seq"
)

// reader builds the program that prints what the hook reads from a sequence.
func reader(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "seq")
	out, err := exec.CommandContext(t.Context(), "gcc", "-std=gnu11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wall", "-Wextra", "-Werror",
		"-I../../hook/shim", "-o", program, "testdata/seq.c", "../../hook/shim/back_seq.c").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// read returns the values that the hook reads.
func read(t *testing.T, program string, n uint64, code []byte) []uint64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Stdin = bytes.NewReader(append(binary.LittleEndian.AppendUint64(nil, n), code...))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]uint64, len(out)/8)
	for i := range values {
		values[i] = binary.LittleEndian.Uint64(out[8*i:])
	}
	return values
}

// The hook reads sequences as they were written, whatever loops they have.
func TestSequence(t *testing.T) {
	program := reader(t)
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		var loops func(depth int) []uint64
		loops = func(depth int) []uint64 {
			var all []uint64
			for range 1 + r.IntN(5) {
				switch {
				case depth == 0 || r.IntN(3) == 0:
					all = append(all, r.Uint64N(1<<r.UintN(64)+1))
				default:
					all = append(all, slices.Repeat(loops(depth-1), 1+r.IntN(12))...)
				}
			}
			return all
		}
		want := loops(4)
		w := seq.NewWriter(false)
		for _, v := range want {
			w.Push(v)
		}
		if got := read(t, program, uint64(len(want)), w.Seq().Code()); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %d values, want %d", seed, len(got), len(want))
		}
	}
}

// Damaged code ends the sequence.
func TestDamagedSequence(t *testing.T) {
	program := reader(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		code := make([]byte, r.IntN(40))
		for i := range code {
			code[i] = byte(r.Uint32())
		}
		if got := read(t, program, 1000, code); len(got) > 1000 {
			t.Fatalf("% x: %d values", code, len(got))
		}
	}
	if got := read(t, program, 5, []byte{4}); len(got) != 1 {
		t.Errorf("%d values, want 1", len(got))
	}
}
