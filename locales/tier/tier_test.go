package tier

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
)

// good is a record of tier C.
func good() Record {
	return Record{Name: "Swahili", Tier: C, Texts: 100, Translated: 90, English: 10, Judged: 100, Faithful: 90, Flagged: []string{"Nim"},
		Translator: "m", Judges: []string{"a", "b"}, Seeds: []int64{1, 2}, Date: "2026-11-30", SHA256: strings.Repeat("0a", 32)}
}

func TestOf(t *testing.T) {
	for _, test := range []struct {
		change func(*Record)
		want   Tier
	}{
		{func(r *Record) {}, C},
		{func(r *Record) { r.Faithful = 85 }, C},
		{func(r *Record) { r.Faithful = 84 }, E},
		{func(r *Record) { r.Judged, r.Faithful = 0, 0 }, E},
		{func(r *Record) { r.English, r.Flagged = 0, nil }, B},
		{func(r *Record) { r.English = 0 }, C},
		{func(r *Record) { r.Flagged = nil }, C},
		{func(r *Record) { r.English, r.Flagged, r.Faithful = 0, nil, 84 }, E},
		{func(r *Record) { r.Review = &Review{"a speaker", "May"} }, A},
		{func(r *Record) { r.Review, r.Judged, r.Faithful = &Review{"a speaker", "May"}, 0, 0 }, A},
	} {
		r := good()
		test.change(&r)
		if got := Of(r); got != test.want {
			t.Errorf("%+v: %s, want %s", r, got, test.want)
		}
		r.Tier = test.want
		if err := r.check(); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestShares(t *testing.T) {
	r := good()
	fidelity, _ := r.Fidelity()
	coverage, _ := r.Coverage()
	fallback, _ := r.Fallback()
	if _, ok := (Record{}).Fidelity(); fidelity != 90 || coverage != 90 || fallback != 10 || ok {
		t.Error(fidelity, coverage, fallback, ok)
	}
}

// Each change makes a record that nobody may believe.
func TestRefused(t *testing.T) {
	for want, change := range map[string]func(*Record){
		`tier "A" does not follow from the rest, C does`:   func(r *Record) { r.Tier = A },
		`tier "B" does not follow`:                         func(r *Record) { r.Tier = B },
		`tier "C" does not follow from the rest, E does`:   func(r *Record) { r.Faithful = 10 },
		`tier "D" does not follow`:                         func(r *Record) { r.Tier = "D" },
		"takes two judges":                                 func(r *Record) { r.Judges = r.Judges[:1] },
		"faithful is 90 of 80 judged":                      func(r *Record) { r.Judged = 80 },
		"judged is 101 of 100 texts":                       func(r *Record) { r.Judged = 101 },
		"translated and english are 101 of 100":            func(r *Record) { r.English = 11 },
		"english is -1 of 100":                             func(r *Record) { r.English = -1 },
		`date "30.11.2026" is no day`:                      func(r *Record) { r.Date = "30.11.2026" },
		`date "" is no day`:                                func(r *Record) { r.Date = "" },
		"sha256 is no sum":                                 func(r *Record) { r.SHA256 = "xyz" },
		"review names no who or no when":                   func(r *Record) { r.Review, r.Tier = &Review{"x", " "}, A },
		`"\x1b[2J" is too long or holds control`:           func(r *Record) { r.Name = "\x1b[2J" },
		`"` + strings.Repeat("x", 40) + `" is too long or`: func(r *Record) { r.Translator = strings.Repeat("x", 300) },
	} {
		r := good()
		change(&r)
		data, err := json.Marshal(map[string]Record{"sw": r})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(data); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `language "sw": `) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for text, want := range map[string]string{
		"": "not an object", "[]": "not an object", `{"sw": {"tier": "E", "x": 1}}`: "unknown field", `{"sw": 1}`: "not an object",
		`{} {}`: "more text", "\xff": "not UTF-8", `{"sw": {"tier": 1}}`: "not an object", `{"sw": {}}`: "no day",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// What is written is read again, and has the tiers that follow.
func TestFormat(t *testing.T) {
	sw, ha := good(), good()
	sw.Tier, ha.Tier = "", "" // Format knows
	ha.Review = &Review{"a speaker", "May"}
	data, err := Format(map[string]Record{"sw": sw, "ha": ha})
	if err != nil {
		t.Fatal(err)
	}
	records, err := Parse(data)
	sw.Tier, ha.Tier = C, A
	if want := map[string]Record{"sw": sw, "ha": ha}; err != nil || !reflect.DeepEqual(records, want) {
		t.Errorf("%+v, %v", records, err)
	}
	sw.Texts = 1
	if data, err := Format(map[string]Record{"sw": sw}); err == nil {
		t.Errorf("a wrong record is written: %s", data)
	}
	if records, err := Parse([]byte("null")); err != nil || records == nil {
		t.Errorf("%v, %v: no records that another can be added to", records, err)
	}
}

// What is read is refused on one line, or it can be written and read again.
func FuzzParse(f *testing.F) {
	data, _ := Format(map[string]Record{"sw": good()})
	f.Add(data)
	f.Add([]byte(`{"x": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, err := Parse(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q", err)
			}
			return
		}
		text, err := Format(records)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(text)
		if err != nil || !maps.EqualFunc(again, records, func(a, b Record) bool {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			return string(x) == string(y)
		}) {
			t.Errorf("%s: %v", text, err)
		}
	})
}
