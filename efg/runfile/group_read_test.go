package runfile

import (
	"errors"
	"testing"
)

// A missing text is an error, not an empty text.
func TestTextOfAGroup(t *testing.T) {
	missing := errors.New("string 5 of 3")
	text := func(n uint64) (string, error) {
		if n > 2 {
			return "", missing
		}
		return "text", nil
	}
	at := &place{what: cellText}
	if c, err := new(readGroup).cellOf(at, 1, nil, text); err != nil || c.text != "text" {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := new(readGroup).cellOf(at, 5, nil, text); !errors.Is(err, missing) {
		t.Errorf("%+v, %v", c, err)
	}
}
