package flows

import (
	"cmp"
	"container/heap"
	"slices"
)

// lasting is what takes a part of the time.
type lasting interface {
	// span is that part, ns, and a number that tells equal ones apart.
	span() (begin, end int64, order int)
}

// longest keeps what lasts longest: the shortest of it first, as a heap.
type longest[T lasting] []T

func (l longest[T]) Len() int { return len(l) }
func (l longest[T]) Less(i, k int) bool {
	a, b := length(l[i]), length(l[k])
	_, _, first := l[i].span()
	_, _, second := l[k].span()
	return a < b || a == b && first > second
}
func (l longest[T]) Swap(i, k int) { l[i], l[k] = l[k], l[i] }
func (l *longest[T]) Push(x any)   { *l = append(*l, x.(T)) }
func (l *longest[T]) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

func length[T lasting](x T) int64 {
	begin, end, _ := x.span()
	return end - begin
}

// add adds what is longer than the shortest of the most that are kept.
func (l *longest[T]) add(x T, most int) {
	if len(*l) < most {
		heap.Push(l, x)
		return
	}
	if most > 0 && length((*l)[0]) < length(x) {
		(*l)[0] = x
		heap.Fix(l, 0)
	}
}

// sorted is in the order of the beginnings.
func (l longest[T]) sorted() []T {
	slices.SortFunc(l, func(a, b T) int {
		aBegin, _, first := a.span()
		bBegin, _, second := b.span()
		return cmp.Or(cmp.Compare(aBegin, bBegin), cmp.Compare(first, second))
	})
	return l
}
