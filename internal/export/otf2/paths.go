package otf2

import "github.com/efg-tools/efg/reconstruct"

// callContext is a call on a call path: a node of the tree of calling contexts.
type callContext struct{ region, place, parent uint32 }

// function is the region of a function by its name or, where that is unknown, by the place in it.
func function(name, place string) region {
	if name == "" {
		name = place
	}
	return region{name, roleFunction, paradigmCompiler}
}

// addPath defines the call path of a callsite, if it has one. Paths share the contexts of calls that
// they begin with.
func (d *definitions) addPath(names *reconstruct.Names, site uint64) {
	d.walkPath(names, site, func(r region, place string) callContext {
		c := callContext{region: d.region(r), place: undefined}
		if place != "" {
			c.place = d.place(place)
		}
		return c
	}, func(c callContext) uint32 {
		id, ok := d.byContext[c]
		if !ok {
			id = uint32(len(d.contexts))
			d.contexts, d.byContext[c] = append(d.contexts, c), id
		}
		return id
	})
}

// pathOf is the context of a callsite's call path, which addPath has defined; undefined if it has none.
func (d *definitions) pathOf(names *reconstruct.Names, site uint64) uint32 {
	return d.walkPath(names, site, func(r region, place string) callContext {
		c := callContext{region: d.byName[r], place: undefined}
		if place != "" {
			c.place = d.byPlace[place]
		}
		return c
	}, func(c callContext) uint32 { return d.byContext[c] })
}

// walkPath goes from the outermost call of a path to the last one, whose number it returns. of is the context of a
// call, or of what stands for calls that are not known, which has no place; number is its number.
func (d *definitions) walkPath(names *reconstruct.Names, site uint64, of func(r region, place string) callContext, number func(callContext) uint32) uint32 {
	calls, start := names.PathCalls(site)
	id := uint32(undefined)
	add := func(r region, place string) {
		c := of(r, place)
		c.parent = id
		id = number(c)
	}
	if start != "" {
		add(function(start, ""), "")
	}
	for _, call := range calls {
		add(function(names.Func(call), names.Place(call)), names.Place(call))
	}
	return id
}
