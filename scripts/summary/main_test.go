package main

import (
	"strings"
	"testing"
)

const input = `{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestOne"}
{"Action":"output","Package":"m/a","Test":"TestOne","Output":"quiet\n"}
{"Action":"pass","Package":"m/a","Test":"TestOne","Elapsed":1}
{"Action":"output","Package":"m/a","Test":"TestTwo","Output":"two is wrong\n"}
{"Action":"fail","Package":"m/a","Test":"TestTwo","Elapsed":1}
{"Action":"fail","Package":"m/a","Elapsed":2.5}
{"Action":"pass","Package":"m/b","Test":"TestThree"}
{"Action":"pass","Package":"m/b","Elapsed":0.1}
{"Action":"output","Package":"m/c","Test":"TestFour","Output":"panic: out of time\n"}
{"Action":"fail","Package":"m/c","Elapsed":9}
{"Action":"skip","Package":"m/d","Elapsed":0}
not of a test
`

const want = `two is wrong
FAIL     2.5s  m/a
ok       0.1s  m/b
FAIL     9.0s  m/c
panic: out of time
none     0.0s  m/d
not of a test
2 passed, 2 failed
`

func TestSummary(t *testing.T) {
	var out strings.Builder
	s := newSummary(&out)
	if err := s.read(strings.NewReader(input)); err != nil {
		t.Fatal(err)
	}
	s.close()
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if s.ok() {
		t.Error("passes with failures")
	}
	if newSummary(&out).ok() {
		t.Error("passes without a test")
	}
}
