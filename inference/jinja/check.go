package jinja

import "strings"

// tests by name: what can stand behind "is".
var tests = map[string]builtin{
	"boolean":     {"", kindTest(func(v any) bool { _, ok := v.(bool); return ok })},
	"callable":    {"", kindTest(isCallable)},
	"defined":     {"", kindTest(func(v any) bool { _, no := v.(undefined); return !no })},
	"even":        {"", func(r *run, v any, _ []any) any { return needInt(v)%2 == 0 }},
	"false":       {"", kindTest(func(v any) bool { return v == any(false) })},
	"float":       {"", kindTest(func(v any) bool { _, ok := v.(float64); return ok })},
	"integer":     {"", kindTest(func(v any) bool { _, ok := v.(int64); return ok })},
	"iterable":    {"", kindTest(isIterable)},
	"lower":       {"", func(r *run, v any, _ []any) any { return isLower(r.plain(v)) }},
	"mapping":     {"", kindTest(func(v any) bool { _, ok := v.(*Dict); return ok })},
	"none":        {"", kindTest(func(v any) bool { return v == nil })},
	"number":      {"", kindTest(isNumber)},
	"odd":         {"", func(r *run, v any, _ []any) any { return needInt(v)%2 != 0 }},
	"sameas":      {"other*", sameAs},
	"sequence":    {"", kindTest(isSequence)},
	"string":      {"", kindTest(isText)},
	"true":        {"", kindTest(func(v any) bool { return v == any(true) })},
	"undefined":   {"", kindTest(func(v any) bool { _, no := v.(undefined); return no })},
	"divisibleby": {"num*", func(r *run, v any, a []any) any { return r.calculate("%", needInt(v), needInt(a[0])) == any(int64(0)) }},
	"in":          {"seq*", comparing("in")},
	"eq":          {"other*", comparing("==")}, "equalto": {"other*", comparing("==")},
	"ne": {"other*", comparing("!=")},
	"gt": {"other*", comparing(">")}, "greaterthan": {"other*", comparing(">")},
	"ge": {"other*", comparing(">=")},
	"lt": {"other*", comparing("<")}, "lessthan": {"other*", comparing("<")},
	"le": {"other*", comparing("<=")},
	"==": {"other*", comparing("==")}, "!=": {"other*", comparing("!=")},
	">": {"other*", comparing(">")}, ">=": {"other*", comparing(">=")},
	"<": {"other*", comparing("<")}, "<=": {"other*", comparing("<=")},
}

func kindTest(f func(v any) bool) func(*run, any, []any) any {
	return func(_ *run, v any, _ []any) any { return f(v) }
}

func comparing(op string) func(*run, any, []any) any {
	return func(r *run, v any, args []any) any { return r.compare(op, v, args[0]) }
}

func isText(v any) bool {
	switch v.(type) {
	case string, markup:
		return true
	}
	return false
}

func isCallable(v any) bool {
	switch v.(type) {
	case *function, undefined, *loop:
		return true
	}
	return false
}

func isIterable(v any) bool {
	switch v.(type) {
	case string, markup, *list, *Dict, undefined, *loop:
		return true
	}
	return false
}

func isSequence(v any) bool {
	switch v := v.(type) {
	case string, markup, *Dict, undefined:
		return true
	case *list:
		return v.kind <= tuple || v.kind == span
	}
	return false
}

func isLower(s string) bool {
	if strings.ToUpper(s) == s {
		return false
	}
	return strings.ToLower(s) == s
}

// sameAs is Python's is, for what there is only one of.
func sameAs(r *run, v any, args []any) any {
	for _, x := range []any{v, args[0]} {
		switch x.(type) {
		case nil, bool:
			return v == args[0]
		}
	}
	fail("is sameas of something else than true, false and none")
	return nil
}
