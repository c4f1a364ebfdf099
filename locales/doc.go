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
// a reader of the language. The checks of a text are those of package verify, and of
// package mask for what a translator has to keep.
// In the strings that TextArena has for all its games (12,470 files, 73 games,
// 193 languages with English) they find this; `selfplay locales check DIR` counts
// again, and TestWholeReferenceTree in package games holds the table to it. The
// columns are the paper's eight languages, the 42 others without a record of their
// quality, the 132 that TextArena records as CERTIFIED_FLAGGED, and the 11 that it
// records as EXPERIMENTAL:
//
//	kind        all  errors  eight  others  flagged  exp.
//	empty         2       2      0       0        2     0  blanks in place of a line
//	brace         1       1      0       0        1     0  doubled, and not in English
//	token       483     415      0      38      427    18  cards J, Q, K in other letters (196),
//	                                                       a lost \boxed (30), marks of boards
//	                                                       ('O' as ओ), commands (draw as chora),
//	                                                       a line of dashes sung (65)
//	example       6       6      0       0        6     0  fields in other letters, units lost
//	number      107      10      0       5       91    11  players called 1 and 2, three columns
//	                                                       run together, years from elsewhere
//	invisible    66      62      3       1       56     6  U+FFFD, controls, "\b" of a \boxed
//	                                                       that JSON took for a backspace
//	look-alike  389     389      0      23      366     0  Cyrillic ә, а, о or Greek ε, γ in
//	                                                       Latin words, a Cyrillic К as a card
//	script     1645       0      0       9     1369   267  Tifinagh in Latin files of taq and tzm,
//	                                                       Latin in azb, ydd and uig, Myanmar in
//	                                                       kac and mni, both scripts of kas
//	english    1437       0      0      14     1233   190  as in the English text, 238 in cjk
//	length      198       0      0       0      171    27  a line of dashes sung as a song,
//	                                                       sentences from elsewhere added
//	leak, thinking: none
//
// No key is missing, unknown or double in any file there, and no placeholder
// differs. Where a translation keeps the brackets of a form and translates the
// words in it, as in [row col], that is no finding; nor are joiners in the
// scripts that need them, Latin names in other scripts, names of games, numbers
// in the digits of another script, small numbers in words, and marks between
// thousands. What remains in doubt is a warning: a number above twelve in words
// (sixty moves in Arabic) or in an idiom (the 15-puzzle has another name in
// Russian), and a sentence that says more than the English one.
package locales
