package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// languageNames are the English names of languages by code: those of two letters,
// and the longer ones that TextArena has strings in.
const languageNames = `
aa Afar; ab Abkhazian; ace Achinese; acm Mesopotamian Arabic; acq Taizzi-Adeni Arabic; ae Avestan;
aeb Tunisian Arabic; af Afrikaans; ajp South Levantine Arabic; ak Akan; aka Akan; am Amharic; an Aragonese;
apc North Levantine Arabic; ar Arabic; ars Najdi Arabic; ary Moroccan Arabic; arz Egyptian Arabic; as Assamese;
ast Asturian; av Avaric; awa Awadhi; ay Aymara; ayr Aymara; az Azerbaijani; azb South Azerbaijani; ba Bashkir;
bak Bashkir; bam Bambara; ban Balinese; be Belarusian; bem Bemba; bg Bulgarian; bho Bhojpuri; bi Bislama; bjn Banjar;
bm Bambara; bn Bangla; bo Tibetan; bod Tibetan; br Breton; bs Bosnian; bug Buginese; ca Catalan; ce Chechen;
ceb Cebuano; ch Chamorro; cjk Chokwe; ckb Central Kurdish; co Corsican; cr Cree; crh Crimean Turkish; cs Czech;
cu Church Slavic; cv Chuvash; cy Welsh; da Danish; de German; dik Dinka; dv Divehi; dyu Dyula; dz Dzongkha;
dzo Dzongkha; ee Ewe; el Greek; eo Esperanto; epo Esperanto; es Spanish; et Estonian; eu Basque; ewe Ewe; fa Persian;
fao Faroese; ff Fulah; fi Finnish; fij Fijian; fil Filipino; fj Fijian; fo Faroese; fon Fon; fr French; fur Friulian;
fuv Nigerian Fulfulde; fy Western Frisian; ga Irish; gaz Oromo; gd Scottish Gaelic; gl Galician; gla Scottish Gaelic;
gle Irish; gn Guarani; grn Guarani; gu Gujarati; gv Manx; ha Hausa; hat Haitian Creole; haw Hawaiian; he Hebrew;
hi Hindi; hmn Hmong; hne Chhattisgarhi; ho Hiri Motu; hr Croatian; ht Haitian Creole; hu Hungarian; hy Armenian;
hz Herero; ia Interlingua; id Indonesian; ie Interlingue; ig Igbo; ii Sichuan Yi; ik Inupiaq; ilo Iloko; io Ido;
is Icelandic; it Italian; iu Inuktitut; ja Japanese; jav Javanese; jv Javanese; ka Georgian; kab Kabyle; kac Kachin;
kam Kamba; kas Kashmiri; kbp Kabiye; kea Kabuverdianu; kg Kongo; ki Kikuyu; kik Kikuyu; kin Kinyarwanda; kj Kuanyama;
kk Kazakh; kl Kalaallisut; km Khmer; kmb Kimbundu; kmr Kurdish; kn Kannada; knc Kanuri; ko Korean; kon Kongo;
kr Kanuri; ks Kashmiri; ku Kurdish; kv Komi; kw Cornish; ky Kyrgyz; la Latin; lb Luxembourgish; lg Ganda;
li Limburgish; lij Ligurian; lim Limburgish; lin Lingala; lmo Lombard; ln Lingala; lo Lao; lt Lithuanian;
ltg Latgalian; ltz Luxembourgish; lu Luba-Katanga; lua Luba-Lulua; lug Ganda; luo Luo; lus Mizo; lv Latvian;
mag Magahi; mai Maithili; mg Malagasy; mh Marshallese; mi Maori; min Minangkabau; mk Macedonian; ml Malayalam;
mlt Maltese; mn Mongolian; mni Manipuri; mos Mossi; mr Marathi; mri Maori; ms Malay; mt Maltese; my Burmese;
na Nauru; nah Nahuatl; nb Norwegian Bokmål; nd North Ndebele; ne Nepali; ng Ndonga; nl Dutch; nn Norwegian Nynorsk;
nno Norwegian Nynorsk; no Norwegian Bokmål; nr South Ndebele; nso Northern Sotho; nus Nuer; nv Navajo; ny Nyanja;
nya Nyanja; oc Occitan; oci Occitan; oj Ojibwa; om Oromo; or Odia; os Ossetic; pa Punjabi; pag Pangasinan;
pap Papiamento; pi Pali; pl Polish; ps Pashto; pt Portuguese; qu Quechua; quy Ayacucho Quechua; rm Romansh; rn Rundi;
ro Romanian; ru Russian; run Rundi; rw Kinyarwanda; sa Sanskrit; sag Sango; san Sanskrit; sat Santali; sc Sardinian;
scn Sicilian; sd Sindhi; se Northern Sami; sg Sango; shn Shan; si Sinhala; sk Slovak; sl Slovenian; sm Samoan;
smo Samoan; sn Shona; sna Shona; so Somali; sot Southern Sotho; sq Albanian; sr Serbian; srd Sardinian; ss Swati;
ssw Swati; st Southern Sotho; su Sundanese; sun Sundanese; sv Swedish; sw Swahili; szl Silesian; ta Tamil;
taq Tamasheq; tat Tatar; te Telugu; tg Tajik; tgk Tajik; th Thai; ti Tigrinya; tir Tigrinya; tk Turkmen; tn Tswana;
to Tongan; tpi Tok Pisin; tr Turkish; ts Tsonga; tsn Tswana; tso Tsonga; tt Tatar; tuk Turkmen; tum Tumbuka; tw Akan;
twi Akan; ty Tahitian; tzm Central Atlas Tamazight; ug Uyghur; uig Uyghur; uk Ukrainian; umb Umbundu; ur Urdu;
uz Uzbek; ve Venda; vec Venetian; vi Vietnamese; vo Volapük; wa Walloon; war Waray; wo Wolof; wol Wolof; xh Xhosa;
xho Xhosa; ydd Yiddish; yi Yiddish; yo Yoruba; yue Cantonese; za Zhuang; zh Chinese; zu Zulu`

var nameByCode = sync.OnceValue(func() map[string]string {
	names := make(map[string]string)
	for entry := range strings.SplitSeq(languageNames, ";") {
		code, name, _ := strings.Cut(strings.TrimSpace(entry), " ")
		names[code] = name
	}
	return names
})

// Codes are the codes of languages whose names are known.
func Codes() []string { return slices.Sorted(maps.Keys(nameByCode())) }

// NameOf is the English name of a language, such as Swahili for sw. Of a code such
// as pt-BR the rest stands behind it in brackets, in words where models want them.
func NameOf(lang string) (string, error) {
	code, rest, _ := strings.Cut(lang, "-")
	name := nameByCode()[code]
	if name == "" {
		return "", fmt.Errorf("no English name is known for %q, which the model has to be told", lang)
	}
	switch rest {
	case "":
		return name, nil
	case "Hans":
		rest = "simplified"
	case "Hant":
		rest = "traditional"
	}
	return name + " (" + rest + ")", nil
}
