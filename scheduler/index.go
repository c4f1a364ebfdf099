package scheduler

import (
	"fmt"
	"slices"
)

// An index finds the longest beginning that a prompt has in common with any of
// its slots. It keeps them in the order of their tokens, like a dictionary: then
// no slot shares more with a prompt than one of the two it would stand between.
//
// A slot's key must not change while it is in the index.
type index struct {
	key   func(slot int) []int32
	order []int32 // slots; those with equal keys by number
}

// longest is a slot with the longest common prefix with tokens, and its length;
// none and 0 if no slot begins like tokens. Where lends is not nil it may refuse a slot
// that prefix, and then the next best is asked.
func (x *index) longest(tokens []int32, lends func(slot, n int) bool) (slot, n int) {
	at, before, after := x.search(tokens, 0)
	lo, hi := at-1, at // the prefixes get no longer on the way from here outwards
	for before > 0 || after > 0 {
		i, n := hi, after
		if before > after {
			i, n = lo, before
		}
		slot := int(x.order[i])
		if lends == nil || lends(slot, n) {
			return slot, n
		}
		if i == lo {
			lo--
			before = x.common(lo, tokens, n)
		} else {
			hi++
			after = x.common(hi, tokens, n)
		}
	}
	return none, 0
}

// common is how many tokens the i-th slot begins like, at most n.
func (x *index) common(i int, tokens []int32, n int) int {
	if i < 0 || i >= len(x.order) {
		return 0
	}
	return commonPrefix(x.key(int(x.order[i])), tokens[:n])
}

// add puts a slot into the order, unless it has no tokens.
func (x *index) add(slot int) {
	if key := x.key(slot); len(key) > 0 {
		at, _, _ := x.search(key, slot)
		x.order = slices.Insert(x.order, at, int32(slot))
	}
}

// remove takes out a slot that was added.
func (x *index) remove(slot int) {
	key := x.key(slot)
	if len(key) == 0 {
		return
	}
	at, _, _ := x.search(key, slot)
	if at == len(x.order) || x.order[at] != int32(slot) {
		panic(fmt.Sprintf("scheduler: slot %d is not in the index", slot))
	}
	x.order = slices.Delete(x.order, at, at+1)
}

// search is the place of slot with these tokens, and how many of them the slots
// just before and at that place have in common with it.
//
// All slots between two share what both of them share with tokens, so that a
// comparison only begins there: most keys have the rules of a game in common.
func (x *index) search(tokens []int32, slot int) (at, before, after int) {
	lo, hi := 0, len(x.order)
	for lo < hi {
		mid := (lo + hi) / 2
		key := x.key(int(x.order[mid]))
		n := min(before, after)
		n += commonPrefix(key[n:], tokens[n:])
		if less(key[n:], tokens[n:], int(x.order[mid]) < slot) {
			lo, before = mid+1, n
		} else {
			hi, after = mid, n
		}
	}
	return lo, before, after
}

// less compares what follows a common prefix of two keys.
func less(a, b []int32, equal bool) bool {
	switch {
	case len(a) == 0 && len(b) == 0:
		return equal
	case len(a) == 0 || len(b) == 0:
		return len(a) == 0
	}
	return a[0] < b[0]
}

func commonPrefix(a, b []int32) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
