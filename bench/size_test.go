package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Only what the order of the lines implies is removed.
func TestWithoutNumbers(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "full"), filepath.Join(t.TempDir(), "bare")
	full := `{"rank":0,"thread":0,"seq":0,"op":"MPI_Init","args":{},"out":{}}
{"rank":12,"thread":3,"seq":4567,"op":"MPI_Send","args":{"dest":1,"tag":7},"out":{},"site":"x.c:3"}
`
	want := `{"op":"MPI_Init","args":{},"out":{}}
{"op":"MPI_Send","args":{"dest":1,"tag":7},"out":{},"site":"x.c:3"}
`
	if err := os.WriteFile(from, []byte(full), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := withoutNumbers(from, to); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(to); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	if err := os.WriteFile(from, []byte(full+`{"op":"MPI_Finalize"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := withoutNumbers(from, to); err == nil || !strings.Contains(err.Error(), ":3: does not begin") {
		t.Errorf("%v", err)
	}
}
