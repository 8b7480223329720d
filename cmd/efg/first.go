package main

import (
	"container/heap"
	"slices"
)

// firsts collects the items that come first in an order; of items that are equal, those that
// were added first. It keeps no others: there may be an item per rank, or more.
type firsts[T any] struct {
	most    int
	compare func(x, y *T) int
	kept    []numbered[T] // a heap, with the one that comes last on top
	added   int
}

type numbered[T any] struct {
	item   T
	number int
}

// first returns the n first items of a list.
func first[T any](list []T, n int, compare func(x, y *T) int) []T {
	f := &firsts[T]{most: n, compare: compare}
	for i := range list {
		f.add(&list[i])
	}
	return f.list()
}

func (f *firsts[T]) add(item *T) {
	f.added++
	switch {
	case len(f.kept) < f.most:
		heap.Push(f, numbered[T]{*item, f.added})
	case f.most > 0 && f.compare(item, &f.kept[0].item) < 0:
		f.kept[0] = numbered[T]{*item, f.added}
		heap.Fix(f, 0)
	}
}

// list returns the items in order. It may be called once.
func (f *firsts[T]) list() []T {
	slices.SortFunc(f.kept, func(x, y numbered[T]) int { return f.order(&x, &y) })
	out := make([]T, len(f.kept))
	for i := range f.kept {
		out[i] = f.kept[i].item
	}
	return out
}

func (f *firsts[T]) order(x, y *numbered[T]) int {
	if c := f.compare(&x.item, &y.item); c != 0 {
		return c
	}
	return x.number - y.number
}

func (f *firsts[T]) Len() int           { return len(f.kept) }
func (f *firsts[T]) Less(i, j int) bool { return f.order(&f.kept[i], &f.kept[j]) > 0 }
func (f *firsts[T]) Swap(i, j int)      { f.kept[i], f.kept[j] = f.kept[j], f.kept[i] }
func (f *firsts[T]) Push(x any)         { f.kept = append(f.kept, x.(numbered[T])) }

func (f *firsts[T]) Pop() any {
	x := f.kept[len(f.kept)-1]
	f.kept = f.kept[:len(f.kept)-1]
	return x
}
