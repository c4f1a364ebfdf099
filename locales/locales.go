package locales

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// Common is the name under which the strings shared by all games are found.
const Common = "common"

// A record of how good the texts are, _confidence.json, is embedded once there is one:
// a folder's name alone would leave it out.
//
//go:embed ColonelBlotto IteratedPrisonersDilemma KuhnPoker Nim SimpleTak TicTacToe common/*.json
var embedded embed.FS

// aliases are links to common beside the games, for those who run TextArena on
// our strings: it looks there for what its wrappers say.
var aliases = []string{"ActionWrappers", "ObservationWrappers"}

// A Set is a source of locale files. It reads a file when a game first needs it
// and keeps what it parsed; it may be used by many goroutines.
type Set struct {
	name   string // what errors call it: a folder
	files  fs.FS
	layout layout

	mu    sync.RWMutex
	texts map[textKey]*Texts // parsed once, then read only
}

// A layout says where a set keeps its files; %s stands for the game.
type layout struct {
	games  string // the folder that holds a folder per game
	locale string // from there, the folder of one game's files
	common string
}

var (
	ourLayout   = layout{games: ".", locale: "%s", common: Common}
	textArena   = layout{games: "textarena/envs", locale: "textarena/envs/%s/locales", common: "textarena/utils/locales"}
	insideArena = layout{games: "envs", locale: "envs/%s/locales", common: "utils/locales"}
)

type textKey struct{ game, lang string }

// Embedded is the set built into the program.
var Embedded = sync.OnceValue(func() *Set {
	return &Set{name: "embedded locales", files: embedded, layout: ourLayout}
})

// Open reads strings from a folder: one laid out like ours, or a TextArena
// checkout (its root, or the folder textarena in it). It reads a file that Pack
// wrote, too.
func Open(dir string) (*Set, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("locales: %w; name a folder that exists", err)
	}
	if info.Mode().IsRegular() {
		return openPacked(dir, info.Size())
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("locales: %s is no folder; name the folder that holds the locale files", dir)
	}
	set := &Set{name: dir, files: os.DirFS(dir)}
	for _, l := range []layout{textArena, insideArena, ourLayout} {
		if isDir(set.files, l.games) && isDir(set.files, l.common) {
			set.layout = l
			return set, nil
		}
	}
	return nil, fmt.Errorf("locales: %s has neither <Game>/<lang>.json beside common/<lang>.json, nor a TextArena checkout's textarena/envs and textarena/utils/locales; name a folder that has one of them", dir)
}

// Ours says whether the set's files lie as ours do, and not as in a TextArena checkout.
func (s *Set) Ours() bool { return s.layout == ourLayout }

func isDir(files fs.FS, name string) bool {
	info, err := fs.Stat(files, name)
	return err == nil && info.IsDir()
}

// Games lists the games that the set has strings for, in alphabetical order.
func (s *Set) Games() []string {
	entries, err := fs.ReadDir(s.files, s.layout.games)
	if err != nil {
		return nil
	}
	var games []string
	for _, e := range entries {
		game := e.Name()
		if game != Common && !slices.Contains(aliases, game) && isName(game) && len(s.fileLangs(game)) > 0 {
			games = append(games, game)
		}
	}
	return games
}

// Langs lists the languages in which a game can be played: those that have both
// the game's file and the common one, in alphabetical order.
func (s *Set) Langs(game string) []string {
	common := s.fileLangs(Common)
	return slices.DeleteFunc(s.fileLangs(game), func(lang string) bool {
		return !slices.Contains(common, lang)
	})
}

// fileLangs lists the languages that one folder has files for.
func (s *Set) fileLangs(game string) []string {
	entries, err := fs.ReadDir(s.files, s.folder(game))
	if err != nil {
		return nil
	}
	var langs []string
	for _, e := range entries {
		lang, ok := strings.CutSuffix(e.Name(), ".json")
		// A name that starts with "_" is a note beside the languages.
		if ok && isName(lang) && lang[0] != '_' {
			langs = append(langs, lang)
		}
	}
	slices.Sort(langs)
	return langs
}

func (s *Set) folder(game string) string {
	if game == Common {
		return s.layout.common
	}
	return strings.ReplaceAll(s.layout.locale, "%s", game)
}

// file is the path of a locale file inside the set, and what errors call it.
func (s *Set) file(game, lang string) (inside, shown string) {
	inside = path.Join(s.folder(game), lang+".json")
	return inside, s.name + "/" + inside
}

// isName reports whether a game or language can be part of a path: both come
// from users and files, and must not lead out of the set's folder.
func isName(s string) bool {
	for _, c := range s {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return s != ""
}

// read gives a file's content, or an error that says what could be done.
func (s *Set) read(game, lang string) ([]byte, error) {
	if !isName(game) || !isName(lang) {
		return nil, fmt.Errorf("locales: %q in language %q: names are made of letters, digits, - and _; correct the name", game, lang)
	}
	inside, shown := s.file(game, lang)
	info, err := fs.Stat(s.files, inside)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("locales: %s does not exist; add it or choose one of: %s", shown, listed(s.fileLangs(game)))
	case err != nil:
		return nil, fmt.Errorf("locales: %s: %w; make the file readable", shown, err)
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, fmt.Errorf("locales: %s is not a file of at most %d bytes; replace it", shown, maxFile)
	}
	data, err := readAtMost(s.files, inside, info.Size())
	if err != nil {
		return nil, fmt.Errorf("locales: %s: %w; make the file readable", shown, err)
	}
	return data, nil
}

// readAtMost reads a file that must have no more bytes than it said: what is
// packed may lie about that.
func readAtMost(files fs.FS, name string, size int64) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, 0, size+1)
	for len(data) < cap(data) {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("more than the %d bytes that it is said to have", size)
}

// maxFile is some hundred times the size of a real locale file.
const maxFile = 1 << 20

func listed(names []string) string {
	if len(names) == 0 {
		return "(none there)"
	}
	return strings.Join(names, ", ")
}
