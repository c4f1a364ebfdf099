package inference

import (
	"strings"
	"testing"
)

var templateChat = []Message{{"system", "Be brief."}, {"user", "  Größe: 3 < 4 & \"x\"\n"}}

// TestTemplates renders small templates. The texts are what Python's jinja2
// gives with the options of Hugging Face's libraries (trim_blocks,
// lstrip_blocks).
func TestTemplates(t *testing.T) {
	for _, test := range []struct{ name, template, want string }{
		{"line end after a tag", "{% for m in messages %}\n{{ m.role }}\n{% endfor %}\nend\n", "system\nuser\nend"},
		{"indentation of a tag", "a\n   {% if true %}\n   b\n   {% endif %}\n   c\n", "a\n   b\n   c"},
		{"indented loop", "{% for m in messages %}\n    {% if m.role == 'user' %}\n  u\n    {% else %}\n  s\n    {% endif %}\n{% endfor %}", "  s\n  u\n"},
		{"empty lines", "{% if true %}\n\n  two\n\n{% endif %}\n\nthree", "\n  two\n\n\nthree"},
		{"minus", "{%- for m in messages -%}\n  [{{- m.role -}}]\n{%- endfor -%}\n x", "[system][user]x"},
		{"plus", "{%+ if true %}x{%+ endif %}\ny", "xy"},
		{"comments", "{# one #}\nline\n   {# two #}\nlast", "line\nlast"},
		{"space before a tag in a line", "a   {% if true %}   b   {% endif %}   c\n", "a      b      c"},
		{"space between tags", "x {% if true %} {% if true %} a {% endif %} {% endif %} y", "x   a   y"},
		{"space after an expression", "{% for m in messages %}{{ loop.index }} {% endfor %}", "1 2 "},
		{"space before a comment", "{{ 'a' }} {# c #} {{ 'b' }}", "a  b"},
		{"line ends within tags", "{% if true and\n  (foo or\n  not(bar)) %}\ny{{ 'a'\n  ~ 'b\nc' }}\n{%\n endif %}", "yab\nc\n"},
		{"words before brackets", "{% if 'a' in('abc') and(true) %}y{% endif %}", "y"},
		{"strings that look like tags", "{{ '%} {%' }}{{ \"}} {% if(\" }}", "%} {%}} {% if("},
		{"carriage returns", "a\r\n{% if true %}\r\nb\r\n{% endif %}", "a\nb\n"},
		{"raw", "{% raw %}{{ x }} {% in( %}{% endraw %}", "{{ x }} {% in( %}"},
		{"special tokens", "{{ bos_token }}{{ eos_token }}", "<s></s>"},
		{"generation prompt", "{% if add_generation_prompt %}A{% endif %}", "A"},
		{"filters", "{{ messages[1].content | trim }}|{{ messages[1]['content'] | length }}", "Größe: 3 < 4 & \"x\"|21"},
		{"nothing is escaped", "{{ messages[1].content }}", "  Größe: 3 < 4 & \"x\"\n"},
		{"tojson", "{{ messages[1].content | tojson }}", `"  Größe: 3 < 4 & \"x\"\n"`},
		{"reverse", "{{ messages[::-1] | map(attribute='role') | join(',') }} {{ messages | reverse | map(attribute='role') | join(',') }} {{ [3, 1, 2, 2] | reverse | list }}", "user,system user,system [2, 2, 1, 3]"},
		{"namespace", "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}", "2"},
		{"scope of a loop", "{% set c = 'o' %}{% for m in messages %}{% set c = m.content %}{% endfor %}{{ c }}", "o"},
		{"macro", "{% macro f(x, n=2) %}<{{ x }}{{ n }}>{% endmacro %}{{ f('a') }}{{ f(messages[0].role, n=5) }}", "<a2><system5>"},
		{"turns must alternate", "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 1) %}{{ raise_exception('no') }}{% endif %}{{ m.role }}{% endfor %}", "systemuser"},
		{"undefined", "{{ foo }}|{% if foo %}a{% endif %}{{ foo is defined }}|{{ messages[0].tool_calls is defined }}", "|False|False"},
		{"tools", "{% if tools %}a{% endif %}{% if tools is defined and tools is not none %}b{% endif %}c", "c"},
		{"last of one", "{{ 'a'.split('b')[-1].strip('x') }}{{ ['c'][-1] }}{{ messages[-1].role }}{{ [][-1] is defined }}", "acuserFalse"},
		{"turns counted from the end", "{% set ns = namespace(open=true, last=messages|length - 1) %}{% for m in messages[::-1] %}{% set i = (messages|length - 1) - loop.index0 %}{% if ns.open and m.role == 'system' and not(m.content.startswith('x') and m.content.endswith('y')) %}{% set ns.open = false %}{% set ns.last = i %}{% endif %}{% endfor %}{{ ns.last }}", "0"},
		{"thinking cut off", "{% set c = '<t>\\nhm\\n</t>\\n\\nyes' %}{{ c.split('</t>')[0].rstrip('\\n').split('<t>')[-1].lstrip('\\n') }}|{{ c.split('</t>')[-1].lstrip('\\n') }}", "hm|yes"},
		{"a switch that is not set", "{% if enable_thinking is defined and enable_thinking is false %}a{% else %}b{% endif %}", "b"},
		{"break and continue", "{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}{{ m.role }}{% break %}{% endfor %}", "user"},
	} {
		c, err := newTemplate("model.gguf", test.template, "<s>", "</s>")
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got, err := c.write(templateChat); err != nil || got != test.want {
			t.Errorf("%s: error %v, text %q, want %q", test.name, err, got, test.want)
		}
	}
}

// TestTemplateErrors: each error is one line that names the file and what is
// wrong.
func TestTemplateErrors(t *testing.T) {
	for _, test := range []struct{ name, template, want string }{
		{"none", "", "no chat template"},
		{"refusal", "{% if messages[0].role == 'system' %}{{ raise_exception('System role not\nsupported') }}{% endif %}", "model.gguf: the chat template refuses the chat: System role not supported"},
		{"undefined variable", "{{ foo.bar }}", "line 1: 'foo' is undefined: it has no 'bar'"},
		{"undefined field", "a\nb\n{{ messages[0].nothing.more }}", "line 3: 'nothing' is undefined: it has no 'more'"},
		{"undefined function", "{{ now('%d') }}", "the undefined 'now' cannot be called"},
		{"unknown filter", "{{ messages | nonsense }}", "nonsense"},
		{"unknown tag", "{% trans %}x{% endtrans %}", "a tag {% trans %} is not known"},
		{"open loop", "a\n\nb\n{% for m in messages %}", "endfor"},
		{"open expression", "{% for m in messages %}{{ m.content", "}} expected"},
		{"open string", "{{ 'abc", "a string is not closed"},
		{"include a file", "{% include '/etc/hostname' %}", "is not known"},
		{"include itself", "{% include '/chat' %}", "is not known"},
		{"import a file", "{% import '/etc/hostname' as x %}", "is not known"},
		{"from a file", "{% from '/etc/hostname' import x %}", "is not known"},
		{"extends a file", "{% extends '/etc/hostname' %}", "is not known"},
		{"tojson of what is not there", "{{ messages[0].x | tojson }}", "tojson of the undefined 'x'"},
		{"division by zero", "{{ 1 // 0 }}{{ 1 % 0 }}", "division by zero"},
	} {
		c, err := newTemplate("model.gguf", test.template, "<s>", "</s>")
		var text string
		if err == nil {
			text, err = c.write(templateChat)
		}
		if err == nil {
			t.Errorf("%s: no error, text %q", test.name, text)
			continue
		}
		if s := err.Error(); !strings.HasPrefix(s, "model.gguf: ") || !strings.Contains(s, test.want) || strings.Contains(s, "\n") {
			t.Errorf("%s: error %q", test.name, s)
		}
		if len(test.template) > 10 && strings.Contains(err.Error(), test.template) && test.name != "undefined variable" {
			t.Errorf("%s: the error quotes the whole template: %v", test.name, err)
		}
	}
}

// TestTemplateAgain renders one template many times, with other messages each
// time: nothing of one chat may reach the next.
func TestTemplateAgain(t *testing.T) {
	c, err := newTemplate("model.gguf", "{% for m in messages %}{% set seen = m.content %}{{ m.content }}{% endfor %}{{ seen }}{{ x }}{% set x = 'left' %}", "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a", "b", "a"} {
		if got, err := c.render([]Message{{"user", text}}); err != nil || got != text {
			t.Errorf("error %v, text %q, want %q", err, got, text)
		}
	}
}

// TestThink: thinking is switched only where the template has a switch.
func TestThink(t *testing.T) {
	const (
		with    = "{% for m in messages %}{{ m.content }}{% endfor %}{% if enable_thinking is defined and enable_thinking is false %}<think></think>{% endif %}"
		without = "{% for m in messages %}{{ m.content }}{% endfor %}"
	)
	for _, c := range []struct{ template, mode, want, fault string }{
		{with, "auto", "su", ""},
		{with, "", "su", ""},
		{with, "on", "su", ""},
		{with, "off", "su<think></think>", ""},
		{without, "auto", "su", ""},
		{without, "on", "", "renders the same with thinking on and off"},
		{without, "off", "", "renders the same with thinking on and off"},
		{with, "maybe", "", "--think maybe: give auto, on or off"},
	} {
		tpl, err := newTemplate("model.gguf", c.template, "", "")
		if err != nil {
			t.Fatal(err)
		}
		err = tpl.setThink(c.mode)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s of %s: %v", c.mode, c.template, err)
			}
			continue
		}
		got, rerr := tpl.render([]Message{{"system", "s"}, {"user", "u"}})
		if err != nil || rerr != nil || got != c.want {
			t.Errorf("%s of %s: %q, %v, %v", c.mode, c.template, got, err, rerr)
		}
	}
}
