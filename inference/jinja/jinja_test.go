package jinja

import (
	"errors"
	"strings"
	"testing"
)

// testValues are the variables of the tests.
func testValues() map[string]any {
	return map[string]any{
		"s": "Aé b,c", "e": "", "n": 3, "f": 2.5, "x": nil, "l": []any{"b", "A", "c"},
		"m": []any{NewDict("role", "user", "content", "hi"), NewDict("role", "system")},
		"d": NewDict("k", 1, "items", "I", "z", []any{1, 2}),
	}
}

func renderTest(source string) (string, error) {
	t, err := Parse(source)
	if err != nil {
		return "", err
	}
	return t.Render(testValues())
}

// TestAsPython: the texts are those of jinja2 3.1.6, set up as in transformers.
func TestAsPython(t *testing.T) {
	for _, c := range pythonTexts {
		if got, err := renderTest(c.source); err != nil || got != c.want {
			t.Errorf("%s\n error %v\n text %q\n want %q", c.source, err, got, c.want)
		}
	}
}

// TestRefused: what Python refuses, or is not known here, is an error that says
// where and what.
func TestRefused(t *testing.T) {
	for source, want := range map[string]string{
		// Python refuses these too.
		"{{ 1 + 'a' }}":                               "a number + text",
		"{{ 'a' + 1 }}":                               "text + a number",
		"{{ 'a' + none }}":                            "text + None",
		"{{ 'a' + undef }}":                           "the undefined 'undef'",
		"a\n\n{{ undef.x }}":                          "line 3: 'undef' is undefined: it has no 'x'",
		"{{ undef[0] }}":                              "'undef' is undefined",
		"{{ undef() }}":                               "the undefined 'undef' cannot be called",
		"{{ m[0].q.z }}":                              "'q' is undefined: it has no 'z'",
		"{% for q in none %}{% endfor %}":             "None cannot be gone through",
		"{% for q in 5 %}{% endfor %}":                "a number cannot be gone through",
		"{{ 1 < 'a' }}":                               "have no order",
		"{{ none < 1 }}":                              "have no order",
		"{{ 1 in 'a' }}":                              "is looked for in text",
		"{{ 1 in none }}":                             "None cannot be gone through",
		"{{ none | length }}":                         "None has no length",
		"{{ l | map('upper') | length }}":             "a filter's result has no length",
		"{{ undef | tojson }}":                        "tojson of the undefined",
		"{{ {[]: 1} }}":                               "a list cannot be a key",
		"{{ l.append(1) }}":                           "'.append'",
		"{{ d.update({}) }}":                          "'.update'",
		"{{ s.__class__ }}":                           "'.__class__'",
		"{{ raise_exception('no\n way') }}":           "no way",
		"{{ 1 // 0 }}":                                "division by zero",
		"{{ 1 / 0 }}":                                 "division by zero",
		"{{ range(1000000) }}":                        "at most 100000",
		"{{ 'a'.split('') }}":                         "split at nothing",
		"{{ '%d' % 'a' }}":                            "an integer is needed",
		"{{ '%s' % (1, 2) }}":                         "more values",
		"{{ '%s%s' % 1 }}":                            "fewer values",
		"{{ '{}'.format() }}":                         "no value for the place",
		"{{ s | nonsense }}":                          "a filter 'nonsense' is not known",
		"{{ s is nonsense }}":                         "a test 'is nonsense' is not known",
		"{{ s | replace('a') }}":                      "needs 'new'",
		"{{ s | trim('a', 'b') }}":                    "takes 1 arguments",
		"{{ s | trim(x='b') }}":                       "an argument that is not known",
		"{% set x.y = 1 %}":                           "is no namespace",
		"{% set a, b = [1] %}":                        "1 values for 2 names",
		"{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}": "takes 1 arguments, not 2",
		"{% macro f(a) %}{% endmacro %}{{ f(b=1) }}":  "arguments that it does not have",
		"{% break %}":                                 "outside of a loop",
		"{% if true %}":                               "{% endif %} is missing",
		"{% for q in l %}":                            "{% endfor %} is missing",
		"{% endif %}":                                 "a tag {% endif %} is not known",
		"{{ 1 ":                                       "}} expected",
		"{{ (1 }}":                                    "a bracket \"}\" that nothing opened",
		"{{ 1 2 }}":                                   "}} expected, not '2'",
		"{{ }}":                                       "an expression expected, not }}",
		"{{ 'a }}":                                    "a string is not closed",
		"{# a":                                        "a comment is not closed",
		"{% raw %}a":                                  "a raw block is not closed",
		"{{ a ? b }}":                                 "does not belong into a tag",
		"{% set true = 1 %}":                          "cannot be assigned to",
		"{{ 01 }}":                                    "is no number",
		"{% include 'x' %}":                           "a tag {% include %} is not known",

		// Python knows these.
		"{{ 'a<' + ('b' | safe) }}":                                  "safe text",
		"{{ ('b' | safe) ~ 'a' }}":                                   "safe text",
		"{{ ('b' | safe) == 'b' }}":                                  "safe text",
		"{% set q = l | map('upper') %}{{ q | join }}{{ q | join }}": "gone through twice",
		"{{ range(3) }}":                                             "a range cannot be written",
		"{{ s.title() }}":                                            "'.title'",
		"{{ 9223372036854775807 + 1 }}":                              "integers that large",
		"{{ -1 ** 2 }}":                                              "or ** of them",
		"{{ 99999999999999999999 }}":                                 "is too large",
		"{{ '%5.2f' % 1.5 }}":                                        "a form %5.2f is not known",
		"{{ '{:>5}'.format(1) }}":                                    "no value for the place {:>5}",
		"{{ strftime_now('%q') }}":                                   "is not known",
		"{{ loop.cycle }}{% for q in l %}{{ loop.cycle('a') }}{% endfor %}": "",
		"{% for q in l recursive %}{% endfor %}":                            "expected",
		"{{ '\\N{DASH}' }}":                                                 "an escape",
	} {
		text, err := renderTest(source)
		e, ok := errors.AsType[*Error](err)
		if !ok || !strings.Contains(e.Error(), want) || strings.Contains(e.Error(), "\n") {
			t.Errorf("%s\n error %v\n want %q; text %q", source, err, want, text)
		}
	}
}

// TestRaised tells a refusal of the template's from an error in it.
func TestRaised(t *testing.T) {
	for source, want := range map[string]bool{"{{ raise_exception('no') }}": true, "{{ undef.x }}": false} {
		_, err := renderTest(source)
		if e, ok := errors.AsType[*Error](err); !ok || e.Raised != want {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// TestRunaways: whatever a template does ends, after a count of steps.
func TestRunaways(t *testing.T) {
	const loops = "{% for a in range(100000) %}"
	deep := strings.Repeat
	for _, source := range []string{
		loops + loops + loops + "{% endfor %}{% endfor %}{% endfor %}",
		"{{ 'x' * 1000000000 }}",
		"{{ 'x' * 9223372036854775807 }}",
		"{% set q = namespace(s='xxxxxxxx') %}" + loops + "{% set q.s = q.s + q.s %}{% endfor %}",
		"{% set q = namespace(s='xxxxxxxx') %}" + loops + "{% set q.s = q.s | replace('x', q.s) %}{% endfor %}",
		"{% set q = namespace(s='xxxxxxxx') %}" + loops + "{% set q.s = q.s.join(q.s) %}{% endfor %}",
		"{% set q = namespace(s=[1]) %}" + loops + "{% set q.s = q.s + q.s %}{% endfor %}",
		"{% set q = namespace(s=[1]) %}" + loops + "{% set q.s = [q.s, q.s] %}{% endfor %}{{ q.s }}",
		"{% set q = namespace(s=[1]) %}{% for a in range(50) %}{% set q.s = [q.s, q.s] %}{% endfor %}{{ q.s | tojson }}",
		"{% set q = namespace(s=[1], z=[1]) %}{% for a in range(50) %}{% set q.s = [q.s, q.s] %}{% set q.z = [q.z, q.z] %}{% endfor %}{{ q.s == q.z }}",
		"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
		"{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
		"{% macro f(a) %}{% call f(a) %}{% endcall %}{% endmacro %}{{ f(1) }}",
		"{% macro f(a=f()) %}{% endmacro %}{{ f() }}",
		"{{ " + deep("(", 100_000) + deep(")", 100_000) + " }}",
		"{{ " + deep("[", 100_000) + " }}",
		"{{ " + deep("-", 100_000) + "1 }}",
		"{{ x" + deep("[0]", 100_000) + " }}",
		"{{ x" + deep("|d", 100_000) + " }}",
		"{{ x" + deep(" if x else x", 100_000) + " }}",
		deep("{% if true %}", 100_000),
		"{{ 'a' | indent(999999999) }}",
		"{{ '%0999999999d' % 1 }}",
		"{{ d | tojson(indent=999999999) }}",
		"{{ 2 ** 999999999 }}",
		deep(" ", 2<<20),
	} {
		if _, err := renderTest(source); err == nil {
			t.Errorf("%.100s: no error", source)
		}
	}
}

// TestLongChains: a flat expression may be as long as a template.
func TestLongChains(t *testing.T) {
	for source, want := range map[string]string{
		"{{ 1" + strings.Repeat("+1", 500_000) + " }}":                                   "500001",
		"{{ e" + strings.Repeat(" or e", 200_000) + " }}":                                "",
		strings.Repeat("{{ n }}", 100_000):                                               strings.Repeat("3", 100_000),
		"{% if e %}" + strings.Repeat("{% elif e %}", 80_000) + "{% else %}x{% endif %}": "x",
	} {
		if got, err := renderTest(source); err != nil || got != want {
			t.Errorf("%.40s: error %v, text %.40q", source, err, got)
		}
	}
}

// TestWorkOfLongChats: the bound on a template's work is none on a chat's length.
func TestWorkOfLongChats(t *testing.T) {
	long := strings.Repeat("ä ", 4<<20)
	p, err := Parse("{% for m in messages %}{{ '<' + m.content.split('q')[0] | trim + '>' }}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.Render(map[string]any{"messages": []any{NewDict("content", long)}})
	if err != nil || text != "<"+strings.TrimSpace(long)+">" {
		t.Errorf("error %v, %d bytes", err, len(text))
	}
}

func FuzzTemplate(f *testing.F) {
	for _, c := range pythonTexts {
		f.Add(c.source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 2000 {
			return
		}
		a, err := renderTest(source)
		b, again := renderTest(source)
		if e, ok := errors.AsType[*Error](err); err != nil && (!ok || strings.Contains(e.Error(), "\n")) {
			t.Errorf("%q: error %v", source, err)
		}
		if a != b || (err == nil) != (again == nil) {
			t.Errorf("%q: %q, then %q", source, a, b)
		}
	})
}

var pythonTexts = []struct{ source, want string }{
	{`{{ 1 + 2 * 3 ** 2 - 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2.0 }} {{ 1e20 }} {{ 0.00001 }} {{ true + 1 }}`, `16 -4 2 3.5 2.0 1e+20 1e-05 2`},
	{`{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 == 1.0 }} {{ true == 1 }} {{ '1' == 1 }} {{ [1] == (1,) }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }}`, `True False True True False False True True`},
	{`{{ 'a' ~ 1 ~ none ~ undef ~ [1] }} {{ 'ab' * 2 }} {{ [1] + [2] }} {{ (1,) + (2,) }}`, `a1None[1] abab [1, 2] (1, 2)`},
	{`{{ 'x' if n > 2 else 'y' }}|{{ 'x' if n > 5 }}|{{ ('a' if x else 'b') ~ 'c' }}|{{ 1 if false else 2 if false else 3 }}`, `x||bc|3`},
	{`{{ x is none }} {{ undef is none }} {{ undef is not none }} {{ undef is defined }} {{ m[0].q is defined }} {{ m[1].content is not defined }} {{ m[0].q is not none }}`, `True False True False False True True`},
	{`{{ none }} {{ true }} {{ undef }} {{ [none, true, undef, 'a\'b', "a'b", 'ü\n'] }} {{ {'a': 1, 2: none} }} {{ (1,) }} {{ () }}`, `None True  [None, True, Undefined, "a'b", "a'b", 'ü\n'] {'a': 1, 2: None} (1,) ()`},
	{`{{ s[0] }}{{ s[1] }}{{ s[-1] }}{{ s[9] }} {{ s[1:3] }} {{ s[::-1] }} {{ l[-1] }} {{ l[5] is defined }} {{ l[1:] }} {{ l[::-1] }} {{ l[:-1] }} {{ l[5:0:-2] }}`, `Aéc é  c,b éA c False ['A', 'c'] ['c', 'A', 'b'] ['b', 'A'] ['c']`},
	{`{{ d.k }} {{ d['k'] }} {{ d.items is callable }} {{ d['items'] }} {{ d.get('q') }} {{ d.get('q', 5) }} {{ d.q is undefined }} {{ 'k' in d }} {{ 'q' not in d }}`, `1 1 True I None 5 True True True`},
	{`{{ d.items()|list }} {{ d|items|list }} {{ d.keys()|list }} {{ d.values()|list|length }} {{ d|dictsort }} {{ d|dictsort(by='key')|length }}`, `[('k', 1), ('items', 'I'), ('z', [1, 2])] [('k', 1), ('items', 'I'), ('z', [1, 2])] ['k', 'items', 'z'] 3 [('items', 'I'), ('k', 1), ('z', [1, 2])] 3`},
	{`{{ m|map(attribute='role')|join(',') }} {{ m|map(attribute='content', default='-')|list }} {{ l|map('upper')|list }} {{ m|selectattr('content')|list|length }} {{ m|selectattr('role', 'equalto', 'user')|list }} {{ m|rejectattr('content', 'defined')|list }} {{ l|select('in', ['A'])|list }} {{ [0, 1, '']|select|list }} {{ none|map('upper')|list }}`, `user,system ['hi', '-'] ['B', 'A', 'C'] 1 [{'role': 'user', 'content': 'hi'}] [{'role': 'system'}] ['A'] [1] []`},
	{`{{ l|sort }} {{ l|sort(case_sensitive=true) }} {{ m|sort(attribute='role')|map(attribute='role')|list }} {{ [1, 1, 2]|unique|list }} {{ ['a', 'A']|unique|list }}`, `['A', 'b', 'c'] ['A', 'b', 'c'] ['system', 'user'] [1, 2] ['a']`},
	{`{{ s|upper }} {{ 'straße ﬁ'|upper }} {{ 'ΑΣ İ'|lower }} {{ '  a '|trim }}| {{ 'xxaxx'|trim('x') }} {{ s|replace('b', 'ü') }} {{ 'aaa'|replace('a', 'b', 2) }} {{ 'ab'|replace('', '-') }}`, `AÉ B,C STRASSE FI ας i̇ a| a Aé ü,c bba -a-b-`},
	{`{{ l|first }} {{ l|last }} {{ []|first is defined }} {{ s|length }} {{ d|length }} {{ 'abc'|list }} {{ 'abc'|reverse }} {{ l|reverse|list }} {{ '12'|int + 1 }} {{ 'q'|int }} {{ 2.9|int }}`, `b c False 6 3 ['a', 'b', 'c'] cba ['c', 'A', 'b'] 13 0 2`},
	{`{{ undef|default('D') }} {{ ''|default('D') }}| {{ ''|default('D', true) }} {{ none|default('D') }} {{ x|d('D', boolean=true) }} {{ 5|string + 'a' }}`, `D | D None D 5a`},
	{`{{ d|tojson }} {{ {'a': [1, 2.5, none, true, 'ü<&>"\\\n\t\x01']}|tojson }} {{ [1, {'b': []}]|tojson(indent=2) }} {{ {'b': 1, 'a': 2}|tojson(separators=(',', ':'), sort_keys=true) }} {{ 'ü😀'|tojson(ensure_ascii=true) }} {{ 'ü'|tojson(ensure_ascii=False) }}`, "{\"k\": 1, \"items\": \"I\", \"z\": [1, 2]} {\"a\": [1, 2.5, null, true, \"ü<&>\\\"\\\\\\n\\t\\u0001\"]} [\n  1,\n  {\n    \"b\": []\n  }\n] {\"a\":2,\"b\":1} \"\\u00fc\\ud83d\\ude00\" \"ü\""},
	{`{{ 'a\nb\n\nc'|indent }}| {{ 'a\nb'|indent(2, true) }} {{ 'a\n\nb'|indent(2, false, true) }}`, "a\n    b\n\n    c|   a\n  b a\n  \n  b"},
	{`{{ ' a b  c '.split() }} {{ 'a,b,c'.split(',') }} {{ 'a,b,c'.split(',', 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ '</t>x'.split('</t>')[-1] }} {{ 'a'.split('b')[-1] }} {{ 'a\nb\n'.splitlines() }} {{ ' a\x1f\u3000'.strip() }}| {{ 'xay'.strip('xy') }} {{ 'xa'.lstrip('x') }} {{ 'ax'.rstrip('x') }}`, `['a', 'b', 'c'] ['a', 'b', 'c'] ['a', 'b,c'] ['a,b', 'c'] x a ['a', 'b'] a| a a a`},
	{`{{ s.startswith('A') }} {{ s.endswith(('q', 'c')) }} {{ s.find('b') }} {{ s.find('q') }} {{ s.count('b') }} {{ ','.join(l) }} {{ s.upper() }} {{ 'abc'.replace('b', '') }} {{ '{}-{1}'.replace('1', '') }} {{ '{} {a} {{}}'.format(1, a='x') }} {{ '{1}{0}'.format('a', 'b') }} {{ 'prefix'.removeprefix('pre') }}`, `True True 3 -1 1 b,A,c AÉ B,C ac {}-{} 1 x {} ba fix`},
	{`{{ '%02d:%s %%' % (7, none) }} {{ 'a%s' % 'b' }} {{ '%d' % n }}`, `07:None % ab 3`},
	{`{% for a in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}`, `103TrueFalse3A;212FalseFalse3bc;321FalseTrue3A;`},
	{`{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}{% for k in d %}{{ k }}{% endfor %}{% for c in 'aé' %}<{{ c }}>{% endfor %}{% for q in undef %}x{% else %}none{% endfor %}`, `k=1;items=I;z=[1, 2];kitemsz<a><é>none`},
	{`{% for q in [1, 2, 3, 4] if q % 2 == 0 %}{{ loop.index }}:{{ q }} {% endfor %}{% for i in range(5, 0, -2) %}{{ i }}{% endfor %}{% for a, b in [[1, 2]] %}{{ a }}{{ b }}{% endfor %}`, `1:2 2:4 53112`},
	{`{% for a in l %}{% if loop.index == 2 %}{% continue %}{% endif %}{{ a }}{% for b in l %}{% break %}{% endfor %}{% endfor %}{% for a in [1] %}{% continue %}{% else %}E{% endfor %}`, `bcE`},
	{`{% set c = 0 %}{% for a in l %}{% set c = c + 1 %}{{ c }}{% endfor %}{{ c }} {% set ns = namespace(c=0, t='') %}{% for a in l %}{% set ns.c = ns.c + 1 %}{% endfor %}{{ ns.c }}{{ ns.q is defined }}`, `1110 3False`},
	{`{% set a, b = 1, 'x' %}{{ a }}{{ b }}{% set t = 1, %}{{ t }}{% set y %} a{{ 1 }} {% endset %}[{{ y }}]{% set y | upper %}q{% endset %}{{ y }}{% with a = 5, z = a %}{{ a }}{{ z }}{% endwith %}{{ a }}`, `1x(1,)[ a1 ]Q511`},
	{`{% macro f(a, b=2, c=a) %}<{{ a }}{{ b }}{{ c }}>{% endmacro %}{{ f(1) }}{{ f(1, c=3) }}{{ f() }}{{ f|string|length > 0 if false }}{% macro g() %}{{ late }}{% endmacro %}{% set late = 'L' %}{{ g() }}`, `<121><123><2>L`},
	{`{% macro w(t) %}({{ t }}{{ caller('q') }}){% endmacro %}{% call(z) w('a') %}-{{ z }}-{% endcall %}{% filter upper %}a{{ 'b' }}{% endfilter %}{% generation %}g{% endgeneration %}`, `(a-q-)ABg`},
	{`{% for q in [1] %}{{ n }}{% endfor %}{% set n = 9 %}{{ n }}`, `9`},
	{`{% if n is not defined %}{% set n = 4 %}{% endif %}{% for q in [1] %}{{ n }}{% endfor %}{% if s is string and s is not mapping and l is iterable and l is sequence and d is mapping and n is number and n is integer and f is float and true is boolean and 3 is odd and 4 is even and 4 is divisibleby 2 and 1 is eq 1 and none is sameas none and undef is iterable %}all{% endif %}`, `3all`},
	{`{{ not x and n }} {{ x or 'o' }} {{ '' and 1 }}| {{ not (1 in [1]) }} {{ 'a' not in 'abc' }} {{ 1 in (1, 2) }} {{ not not n }} {{ 2 is in [2] }} {{ 'a' is in 'abc' }}`, `3 o | False False True True True True`},
	{`{{ 'a' 'b' "c" }} {{ '\\d \'q\' \x41\u00e9' }} {{ 1_000 }} {{ {'a': {'b': [1, {'c': 2}]}}.a.b[1].c }} {{ m.0.role }} {{ [[1, 2], [3]][0][1] }} {{ dict(a=1).a }} {{ (s|upper).lower() }} {{ -n|string }} {{ n|string|length }}`, `abc \d 'q' Aé 1000 2 user 2 1 aé b,c -3 1`},
	{`a {%- if true -%}  b  {%- endif -%}  c {%+ if true %} d {%+ endif %}e {#- x -#} f {{- 'g' -}} h`, `abc  d efgh`},
	{"a\n  {% if true %}\n  b\n  {% endif %}\n c\n\n", "a\n  b\n c\n"},
	{"{% if true %}\n\n x\n{% endif %}\n\n", "\n x\n"},
	{"{#\n c #}\n  {# d #} e\n", ` e`},
	{"  {%+ if true %}x{% endif +%}\ny", "  x\ny"},
	{"{% raw %}\n{{ a }} {% b %}{% endraw %}\nz", "\n{{ a }} {% b %}z"},
	{"{{ 'a' }}\n{{ 'b' }}\n", "a\nb"},
	{"\r\na\r\n{% if true %}\r\nb\r{% endif %}\r\n", "\na\nb\n"},
	{"x{% for a in l %}\n    {{ a }}\n    {%- if not loop.last %},{% endif %}\n{% endfor %}y", `x    b,    A,    cy`},
	{"{% set a = [\n 1,\n 2,\n] %}{{ a }}{{ {\n'a': 1,\n} }}", `[1, 2]{'a': 1}`},
	{`{{ '%} }}' }}{{ "{% {{ {#" }}{% if '%}' %}y{% endif %}`, `%} }}{% {{ {#y`},
	{`{{ {'a': {}} }}{{ {'a': {'b': 1}}}}`, `{'a': {}}{'a': {'b': 1}}`},
	{`{% set a = 1 %}{% for q in [1] %}{% for z in [1] %}{{ a }}{% endfor %}{% set a = 2 %}{{ a }}{% endfor %}{{ a }}`, `121`},
	{`{% for q in [1] %}{% for z in [1] %}<{{ n }}>{% endfor %}{% set n = 2 %}{{ n }}{% endfor %}`, `<>2`},
	{`{% macro f() %}<{{ v }}{{ n }}>{% endmacro %}{% for q in [1] %}{% set v = 'in' %}{{ f() }}{% endfor %}`, `<3>`},
	{`{% macro f() %}<{{ n }}>{% endmacro %}{{ f() }}{% if e %}{% set n = 1 %}{% elif e %}{% set n = 2 %}{% else %}{% set n = 5 %}{% endif %}{{ f() }}`, `<3><5>`},
	{`{% macro f() %}<{{ n }}>{% endmacro %}{{ f() }}{% if e %}{% set n = 1 %}{% else %}{% set n = 5 %}{% endif %}{{ f() }}`, `<3><5>`},
	{`{% macro g(a, b=n) %}{% set n = 7 %}{{ a }}{{ b }}{% endmacro %}{{ g(1) }}`, `13`},
}
