package runfile

import (
	"errors"
	"testing"
)

// A reference to a missing text is an error, not an empty text: a run file with one must not be
// merged as if nothing were wrong.
func TestTextThatIsNotThere(t *testing.T) {
	missing := errors.New("no such text")
	text := func(v uint64) (string, error) {
		if v > 0 {
			return "", missing
		}
		return "known", nil
	}
	p := &readGroup{}
	if c, err := p.cellOf(&place{what: cellText}, 0, nil, text); err != nil || c.text != "known" {
		t.Errorf("a text that is there: %q, %v", c.text, err)
	}
	if c, err := p.cellOf(&place{what: cellText}, 1, nil, text); !errors.Is(err, missing) {
		t.Errorf("a text that is not there: %q, %v", c.text, err)
	}
}
