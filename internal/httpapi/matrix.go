package httpapi

import (
	"fmt"
	"io"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/internal/jsondoc"
)

// maxBins bounds the rows of a matrix of bins.
const maxBins = 2048

var matrixParams = []string{"collectives", "one_sided", "from", "to", "bins", "order"}

// matrix is a communication matrix, requested as a whole or as a block, pair by pair or binned.
func matrix(q *query) whole {
	opt := analysis.MatrixOptions{Collectives: q.flag("collectives"), OneSided: q.flag("one_sided")}
	order := analysis.RankOrder(q.choice("order", string(analysis.ByRank), analysis.RankOrders...))
	bins, from, to := q.number("bins", 0, 1, maxBins), q.span("from"), q.span("to")
	if bins == 0 && order != analysis.ByRank {
		q.fail("order", "bins, too")
	}
	return whole{
		of: fmt.Sprintf("matrix %+v %s", opt, order),
		make: func(in *input) (encoder, error) {
			m, err := analysis.NewMatrix(in.run, opt)
			if err == nil {
				m.Arrange(in.run, order)
			}
			return m, err
		},
		take: func(name string, whole io.Reader) (any, error) {
			m, err := analysis.DecodeMatrix(whole)
			if err != nil {
				return nil, err
			}
			block, given := jsondoc.BlockOf(m, from, to)
			switch {
			case given && !m.Valid(block):
				return nil, badRequest("from, to: want ranks below %d", m.Size)
			case bins > 0:
				return jsondoc.NewMatrixBins(name, m, opt, order, block, bins), nil
			case given:
				cut, err := m.Cut(block)
				if err != nil {
					return nil, badRequest("%v", err)
				}
				return jsondoc.NewMatrixBlock(name, cut, opt, block), nil
			}
			return jsondoc.NewMatrix(name, m, opt), nil
		},
	}
}
