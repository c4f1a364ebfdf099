// Package locales holds the strings of the games, a file per game and
// language, turns them into templates that render cheaply, and checks them.
//
// A folder of ours is laid out as <Game>/<lang>.json, with the strings that all
// games share in common/<lang>.json. A TextArena checkout is read as it is; the
// keys and placeholders of both are the same. Pack makes one file of either.
// The links ActionWrappers and ObservationWrappers are for those who run
// TextArena's rules on our strings: it looks there for its wrappers' strings.
//
// # What the checker finds
//
// An error keeps a game from starting or misleads its players; a warning is for
// a reader of the language. In the strings that TextArena has for all its games
// (12,470 files, 73 games, 193 languages with English) the checker finds this;
// `selfplay locales check DIR` counts again, in 2 seconds of processor time:
//
//	key           2  2 errors: texts of blanks in place of a line
//	brace         1  1 error: a doubled brace that English has not
//	token       257  230 errors: cards J, Q and K in other letters (196), a lost
//	                 \boxed (30) and four commands; 27 warnings: new brackets
//	example       1  1 error: an allocation to fields in Ethiopic letters
//	invisible    66  62 errors: lost characters (U+FFFD), controls, "\b" of a
//	                 \boxed that JSON took for a backspace; 4 warnings: U+200F
//	look-alike  389  389 errors: Cyrillic ә, а, о or Greek ε, γ in Latin words,
//	                 Latin i in Cyrillic ones, a Cyrillic К as a card
//	script      331  331 warnings: above all Myanmar in kac and mni, both scripts
//	                 of kas in one text, Han in dialects of Arabic
//	english    1023  1,023 warnings: prose as in the English text, 164 in cjk
//
// No key is missing, unknown or double in any file there, and no placeholder
// differs. Where a translation keeps the brackets of a form and translates the
// words in it, as in [row col], that is no finding; nor are joiners in the
// scripts that need them, Latin names in other scripts, and names of games.
package locales
