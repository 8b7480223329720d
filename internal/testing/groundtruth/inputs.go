package groundtruth

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// SiliconPotential is the potential of silicon in Debian's quantum-espresso-data.
const SiliconPotential = "/usr/share/doc/quantum-espresso/examples/atomic/pseudo-LDA-0.5/Si.pz-vbc.UPF.gz"

// CopyInputs copies files that a program needs in its working directory there: those of
// testdata/real, or with an absolute path. Packed ones are unpacked.
func (b *Bench) CopyInputs(dir string, files []string) error {
	for _, f := range files {
		if !filepath.IsAbs(f) {
			f = filepath.Join(b.Root, "testdata", "real", f)
		}
		data, err := os.ReadFile(f)
		name, packed := strings.CutSuffix(filepath.Base(f), ".gz")
		if err == nil && packed {
			data, err = unpacked(data)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func unpacked(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
