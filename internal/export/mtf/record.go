package mtf

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5"
)

// magic begins every file; the rest is compressed.
const magic = "\x89MTF\r\n\x1a\n"

// The versions of the form. Files have the lowest one that they need.
const (
	plainVersion = 1
	callsVersion = 2 // there are calls in progress
	timesVersion = 3 // there are the times of each event; processes have anchors, in all later versions, too
	innerVersion = 4 // there are calls in progress inside others
	goneVersion  = 5 // it is known of a process when it was gone
)

// kind is the kind of a record: a class of the metamodel, or a part of one that can be shared.
type kind uint8

const (
	kindEnd kind = iota
	kindRun
	kindSite
	kindProcessor
	kindDefinition
	kindDefinitions
	kindOperation
	kindClass
	kindAttribute
	kindPattern
	kindTrace
	kindProcess
	kinds
)

var kindNames = [kinds]string{
	"End", "Scenario", "Site", "Processor", "Definition", "Definitions", "MPOperation", "EventClass", "Attribute",
	"TracePattern", "MPITrace", "Process",
}

// recordWriter writes records. Records that others refer to are written once.
type recordWriter struct {
	zip   *zstd.Encoder
	buf   bytes.Buffer
	enc   *msgpack.Encoder
	known [kinds]map[string]int
	err   error
}

func newRecordWriter(out io.Writer) (*recordWriter, error) {
	if _, err := io.WriteString(out, magic); err != nil {
		return nil, err
	}
	zip, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20))
	if err != nil {
		return nil, err
	}
	w := &recordWriter{zip: zip}
	w.enc = msgpack.NewEncoder(&w.buf)
	w.enc.UseCompactInts(true)
	w.enc.SetSortMapKeys(true)
	for k := range w.known {
		w.known[k] = map[string]int{}
	}
	return w, nil
}

// begin begins a record of n fields.
func (w *recordWriter) begin(k kind, n int) {
	w.buf.Reset()
	w.list(n + 1)
	w.uint(uint64(k))
}

// The writer of a field keeps the first error.
func (w *recordWriter) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *recordWriter) list(n int)    { w.keep(w.enc.EncodeArrayLen(n)) }
func (w *recordWriter) uint(v uint64) { w.keep(w.enc.EncodeUint(v)) }
func (w *recordWriter) int(v int64)   { w.keep(w.enc.EncodeInt(v)) }
func (w *recordWriter) text(s string) { w.keep(w.enc.EncodeString(s)) }
func (w *recordWriter) data(b []byte) { w.keep(w.enc.EncodeBytes(b)) }

func (w *recordWriter) texts(list []string) {
	w.list(len(list))
	for _, s := range list {
		w.text(s)
	}
}

func (w *recordWriter) uints(list []uint64) {
	w.list(len(list))
	for _, v := range list {
		w.uint(v)
	}
}

// runs writes numbers as first, count, first, count.
func (w *recordWriter) runs(list []int) {
	var flat []uint64
	for i, v := range list {
		if i > 0 && v == list[i-1]+1 {
			flat[len(flat)-1]++
			continue
		}
		flat = append(flat, uint64(v), 1)
	}
	w.uints(flat)
}

// write ends a record.
func (w *recordWriter) write() {
	if w.err == nil {
		_, err := w.zip.Write(w.buf.Bytes())
		w.keep(err)
	}
}

// share ends a record that others refer to by the returned number.
func (w *recordWriter) share(k kind) int {
	n, ok := w.known[k][string(w.buf.Bytes())]
	if !ok {
		n = len(w.known[k])
		w.known[k][w.buf.String()] = n
		w.write()
	}
	return n
}

func (w *recordWriter) close() error {
	w.begin(kindEnd, 0)
	w.write()
	w.keep(w.zip.Close())
	if w.err != nil {
		return fmt.Errorf("writing MTF: %w", w.err)
	}
	return nil
}
