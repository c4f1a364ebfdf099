package verify

import (
	"strings"
	"unicode"

	"golang.org/x/text/language"
)

// A script is a set of letters.
type script struct {
	name    string
	letters *unicode.RangeTable
}

var (
	latin      = script{"Latin", unicode.Latin}
	cyrillic   = script{"Cyrillic", unicode.Cyrillic}
	greek      = script{"Greek", unicode.Greek}
	armenian   = script{"Armenian", unicode.Armenian}
	arabic     = script{"Arabic", unicode.Arabic}
	hebrew     = script{"Hebrew", unicode.Hebrew}
	ethiopic   = script{"Ethiopic", unicode.Ethiopic}
	georgian   = script{"Georgian", unicode.Georgian}
	tifinagh   = script{"Tifinagh", unicode.Tifinagh}
	devanagari = script{"Devanagari", unicode.Devanagari}
	bengali    = script{"Bengali", unicode.Bengali}
	meetei     = script{"Meetei Mayek", unicode.Meetei_Mayek}
	gujarati   = script{"Gujarati", unicode.Gujarati}
	gurmukhi   = script{"Gurmukhi", unicode.Gurmukhi}
	oriya      = script{"Oriya", unicode.Oriya}
	olChiki    = script{"Ol Chiki", unicode.Ol_Chiki}
	kannada    = script{"Kannada", unicode.Kannada}
	malayalam  = script{"Malayalam", unicode.Malayalam}
	tamil      = script{"Tamil", unicode.Tamil}
	telugu     = script{"Telugu", unicode.Telugu}
	sinhala    = script{"Sinhala", unicode.Sinhala}
	tibetan    = script{"Tibetan", unicode.Tibetan}
	khmer      = script{"Khmer", unicode.Khmer}
	lao        = script{"Lao", unicode.Lao}
	thai       = script{"Thai", unicode.Thai}
	myanmar    = script{"Myanmar", unicode.Myanmar}
	han        = script{"Han", unicode.Han}
	bopomofo   = script{"Bopomofo", unicode.Bopomofo}
	hiragana   = script{"Hiragana", unicode.Hiragana}
	katakana   = script{"Katakana", unicode.Katakana}
	hangul     = script{"Hangul", unicode.Hangul}
	mongolian  = script{"Mongolian", unicode.Mongolian}
)

// writings says how languages are written. A language with several choices is
// written in one of them, and a file keeps to one. Latin letters are at home in
// all of them: names, commands and marks stay as they are.
var writings = []struct {
	langs   string
	choices [][]script
}{
	{"ace af aka ak ast ayr az bam bm ban bem bjn bug ca ceb cjk crh cs cy da de dik dyu ee en epo eo es et eu ewe fao fo fi fij fj fil fon fr fur fuv gaz gl gla gd gle ga grn gn ha hat ht hr hu id ig ilo is it jav jv kab kac kam kbp kea kik ki kin rw kmb kmr ku knc kon kg lij lim li lin ln lmo lt ltg ltz lb lua lug luo lus lv mg min mlt mt mos mri mi ms nb nl nn nno no nso nus nya ny oci oc pag pap pl pt quy qu ro run rn sag sg scn sk sl smo sm sna sn so sot st sq srd sc ssw ss sun su sv sw szl tl tn to tpi tr ts tsn tso tuk tk tum twi umb uz vec vi war wol wo xh xho yo zu",
		[][]script{{latin}}},
	{"acm acq aeb ajp apc ar ars ary arz azb ckb fa ps uig ug ur", [][]script{{arabic}}},
	{"he yi ydd", [][]script{{hebrew}}},
	{"bak ba be bg kk ky mk mn ru tat tt tg tgk uk", [][]script{{cyrillic}}},
	{"sr", [][]script{{cyrillic}, {latin}}},
	{"el", [][]script{{greek}}},
	{"hy", [][]script{{armenian}}},
	{"ka", [][]script{{georgian}}},
	{"am ti tir", [][]script{{ethiopic}}},
	{"taq tzm zgh", [][]script{{tifinagh}, {latin}}},
	{"awa bho hi hne mag mai mr ne sa san", [][]script{{devanagari}}},
	{"kas ks sd", [][]script{{arabic}, {devanagari}}},
	{"as bn", [][]script{{bengali}}},
	{"mni", [][]script{{bengali}, {meetei}}},
	{"gu", [][]script{{gujarati}}},
	{"pa", [][]script{{gurmukhi}, {arabic}}},
	{"or", [][]script{{oriya}}},
	{"sat", [][]script{{olChiki}}},
	{"kn", [][]script{{kannada}}},
	{"ml", [][]script{{malayalam}}},
	{"ta", [][]script{{tamil}}},
	{"te", [][]script{{telugu}}},
	{"si", [][]script{{sinhala}}},
	{"bo bod dz dzo", [][]script{{tibetan}}},
	{"km", [][]script{{khmer}}},
	{"lo", [][]script{{lao}}},
	{"th", [][]script{{thai}}},
	{"my shn", [][]script{{myanmar}}},
	{"yue zh", [][]script{{han, bopomofo}}},
	{"ja", [][]script{{han, hiragana, katakana}}},
	{"ko", [][]script{{hangul, han}}},
}

// bySubtag are the scripts that a code may name, as sr-Latn does, and that are looked up
// for a language which is not among writings.
var bySubtag = map[string]script{"latn": latin, "cyrl": cyrillic, "arab": arabic, "deva": devanagari, "tfng": tifinagh,
	"hebr": hebrew, "guru": gurmukhi, "beng": bengali, "mtei": meetei, "mong": mongolian, "grek": greek}

// writingOf gives the choices for a language; none for one that nobody knows.
// Of a code such as pt-BR the first part counts, unless another one names a script.
func writingOf(code string) [][]script {
	parts := strings.FieldsFunc(code, func(r rune) bool { return r == '-' || r == '_' })
	for i, part := range parts {
		if s, ok := bySubtag[strings.ToLower(part)]; ok && i > 0 {
			return [][]script{{s}}
		}
	}
	lang := strings.Join(parts[:min(1, len(parts))], "")
	for _, w := range writings {
		if lang != "" && strings.Contains(" "+w.langs+" ", " "+lang+" ") {
			return w.choices
		}
	}
	if s, ok := bySubtag[strings.ToLower(usualScript(code))]; ok {
		return [][]script{{s}}
	}
	return nil
}

// usualScript is the code of the script that a language is usually written in where it
// is, as the Unicode consortium has it: Latn, or Hant for zh-TW; "" if it does not know.
func usualScript(code string) string {
	tag, err := language.Parse(code)
	script, confidence := tag.Script()
	if err != nil || confidence == language.No {
		return ""
	}
	return script.String()
}

// chosen gives the scripts of which these texts have the most letters.
func chosen(choices [][]script, texts []string) []script {
	if len(choices) == 0 {
		return nil
	}
	best := choices[0]
	for _, choice := range choices[1:] {
		// The first choice is the usual one; another has to beat it.
		if lettersOf(choice, texts) > lettersOf(best, texts) {
			best = choice
		}
	}
	return best
}

func lettersOf(scripts []script, texts []string) int {
	n := 0
	for _, text := range texts {
		for _, r := range text {
			if in(r, scripts) {
				n++
			}
		}
	}
	return n
}

// in reports whether a letter is of one of the scripts.
func in(r rune, scripts []script) bool {
	for _, s := range scripts {
		if unicode.Is(s.letters, r) {
			return true
		}
	}
	return false
}

// scriptName says what a letter is of, "" for one that all scripts share.
func scriptName(r rune) string {
	for name, table := range unicode.Scripts {
		if name != "Common" && name != "Inherited" && unicode.Is(table, r) {
			return strings.ReplaceAll(name, "_", " ")
		}
	}
	return ""
}
