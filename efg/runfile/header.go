package runfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	// A file without features has version plainVersion, others have runVersion. Readers reject
	// unknown features.
	plainVersion = 2
	runVersion   = 3
	// featurePending: streams may have calls in progress.
	featurePending = 1 << 0
	// featureEvents: there may be event blocks.
	featureEvents = 1 << 7
	// featureMixed: blocks may be mixed, and the trailer is short.
	featureMixed = 1 << 8
	// featureTimes: there may be times blocks, and processes may have anchors.
	featureTimes = 1 << 5
	// featureUntimed: streams may have times of their first events only.
	featureUntimed = 1 << 6
	// featurePaths: definitions of callsites may have parents.
	featurePaths = 1 << 9
	// featurePathCode: event blocks code call paths in their own way.
	featurePathCode = 1 << 10
	// featureCounters: each statistics block has a block of counters.
	featureCounters = 1 << 11
	// featureShared: nodes that differ in their call paths may share statistics.
	featureShared = 1 << 12
	// featurePathGraphs: nodes in event blocks name call paths by their numbers in the block.
	featurePathGraphs = 1 << 13
	// featureStatsCode: there may be statistics as a code.
	featureStatsCode = 1 << 14
	// featureInner: calls in progress may have others inside them.
	featureInner = 1 << 15
	// featureShortStats: statistics that are a code are a short one.
	featureShortStats = 1 << 16
	// featureSteps: columns of times may be encoded in steps.
	featureSteps = 1 << 17
	// featureGone: it may be known when processes that were killed in a call had ended.
	featureGone = 1 << 18
	// featureValues: there may be blocks of times that have counters' values of each event.
	featureValues = 1 << 19
	features      = featurePending | featureEvents | featureMixed | featureTimes | featureUntimed | featurePaths | featurePathCode | featureCounters | featureShared | featurePathGraphs | featureStatsCode | featureInner | featureShortStats | featureSteps | featureGone | featureValues
	// unreleased are features that only versions between releases wrote.
	unreleased = 1<<1 | 1<<2 | 1<<3 | 1<<4
)

// featuresOf returns the features that a file of these sources needs.
func (rw *runWriter) featuresOf(sources []source, meta *Meta) (f uint32) {
	if meta.CallPath > 0 {
		f |= featurePaths | featureShared
	}
	if len(meta.Counters) > 0 {
		f |= featureCounters
	}
	if rw.mixed {
		f |= featureMixed
	}
	if slices.ContainsFunc(sources, source.inCall) {
		f |= featurePending
	}
	if slices.ContainsFunc(sources, source.inInner) {
		f |= featureInner
	}
	if slices.ContainsFunc(sources, source.hasTimes) {
		f |= featureStatsCode | featureShortStats
	}
	if slices.ContainsFunc(sources, source.traced) {
		f |= featureTimes | featureSteps
	}
	if len(meta.Counters) > 0 && slices.ContainsFunc(sources, source.valued) {
		f |= featureValues
	}
	if slices.ContainsFunc(sources, source.untimed) {
		f |= featureUntimed
	}
	if slices.ContainsFunc(sources, func(s source) bool { return s.info().Gone > 0 }) {
		f |= featureGone
	}
	if rw.byEvents {
		f |= featureEvents
		if meta.CallPath > 0 {
			f |= featurePathCode | featurePathGraphs
		}
	}
	return f
}

// appendHeader appends the header of a file with these features.
func appendHeader(b []byte, features uint32) []byte {
	version := uint32(plainVersion)
	if features != 0 {
		version = runVersion
	}
	b = binary.LittleEndian.AppendUint32(append(b, runMagic...), version)
	return binary.LittleEndian.AppendUint32(b, features)
}

// checkHeader reads version and features.
func (r *Run) checkHeader() error {
	b := make([]byte, headerSize)
	n, err := r.r.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if n < len(runMagic) || !bytes.Equal(b[:len(runMagic)], []byte(runMagic)) {
		return ErrNotEFG
	}
	if n < headerSize {
		return ErrTruncated
	}
	version := binary.LittleEndian.Uint32(b[8:])
	if version > runVersion {
		return fmt.Errorf("%w: format %d, this one reads format %d", ErrNewerVersion, version, runVersion)
	}
	r.features = binary.LittleEndian.Uint32(b[12:])
	switch {
	case version < plainVersion || (version == plainVersion) != (r.features == 0):
		return &CorruptError{Section: "header", Offset: 8, Cause: fmt.Errorf("version %d, features %#x", version, r.features)}
	case r.features&unreleased != 0:
		return &CorruptError{Section: "header", Offset: 12, Cause: errors.New("blocks of a development version that was never released")}
	case r.features&^features != 0:
		return fmt.Errorf("%w: features %#x, this one reads %#x", ErrNewerVersion, r.features, features)
	}
	return nil
}
