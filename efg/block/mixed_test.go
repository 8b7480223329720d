package block

import "testing"

// A reader is to know which columns of the examples are text: those that are the primer.
func TestTextOfExamples(t *testing.T) {
	for kind, list := range examplesOf() {
		for _, cols := range list {
			for i, c := range cols {
				if isText(c) != (len(c) == len(primer)) {
					t.Errorf("column %d of an example of kind %d is text", i, kind)
				}
			}
		}
	}
}

// Blocks like the examples of their kind take less than others.
func TestExamples(t *testing.T) {
	for kind, list := range examplesOf() {
		for _, cols := range list {
			if with, without := len(encodeMixed(kind, cols)), len(encodeMixed(0, cols)); 2*with > without {
				t.Errorf("kind %d: %d bytes, %d without examples", kind, with, without)
			}
		}
	}
}
