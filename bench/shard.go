package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"selfplay/bench/screen"
	"selfplay/locales/wholefile"
)

// A Shard is one of several parts that an experiment is played in, each by a
// process of its own, on a machine of its own perhaps, and kept in a run folder
// of its own. Merge joins them. The zero Shard is the whole experiment.
//
// Parts are alike: games are dealt in turn, the roles of one deal together, cell
// after cell, so that of every cell, of every game and of the whole no shard has
// more than one deal more than another. Where cells stop early by what came out
// of all their games, whole cells are dealt instead.
type Shard struct {
	Number int `json:"number"` // from 1
	Of     int `json:"of"`
}

// String is 2 of 4, or the whole.
func (s Shard) String() string {
	if s == (Shard{}) {
		return "the whole"
	}
	return fmt.Sprintf("%d of %d", s.Number, s.Of)
}

// has says whether a shard has this one of the things that are dealt.
func (s Shard) has(dealt int) bool { return s == (Shard{}) || dealt%s.Of == s.Number-1 }

// below is how many of the first n things it has.
func (s Shard) below(n int) int {
	if s == (Shard{}) {
		return n
	}
	return (n + s.Of - s.Number) / s.Of
}

// Folder is the shard's folder within a run's; none for the whole, which has that
// itself.
func (s Shard) Folder() string {
	if s == (Shard{}) {
		return ""
	}
	return fmt.Sprintf("shard-%04d-of-%04d", s.Number, s.Of)
}

var shardFolder = regexp.MustCompile(`^shard-\d{4,}-of-\d{4,}$`)

// validateShard refuses shards that no game is left for.
func (p Plan) validateShard() error {
	s := p.Shard
	if s == (Shard{}) {
		return nil
	}
	if s.Of < 1 || s.Number < 1 || s.Number > s.Of {
		return fmt.Errorf("shard %d of %d: they are counted from 1 of N to N of N", s.Number, s.Of)
	}
	things, what := len(p.Games)*len(p.pairs()), "pairs of languages of a game, which until-ci keeps whole"
	if !p.ByCell {
		things, what = things*p.N, "deals"
	}
	if s.Of > things {
		return fmt.Errorf("shard %d of %d: the plan has %s %s, so at most as many shards", s.Number, s.Of, screen.Thousands(things), what)
	}
	return nil
}

// Whole is the experiment that a shard's is a part of.
func (e Experiment) Whole() Experiment {
	e.Shard = Shard{}
	return e
}

// shardsName is a file in the folder of a run that is played in shards: what all of
// them are of. The first that begins writes it.
const shardsName = "shards.json"

// shardsFile is its contents.
type shardsFile struct {
	Format     int        `json:"format"`
	Experiment Experiment `json:"experiment"`
	Of         int        `json:"of"`
}

// claimShard makes dir a folder for shards of the experiment, or finds it to be
// one, and gives the folder of this shard in it. Shards that could not be joined
// in the end are refused before they play.
func claimShard(dir string, e Experiment) (string, error) {
	if e.Shard == (Shard{}) {
		return dir, nil
	}
	if err := CheckShards(dir, e); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("run folder %s cannot be made (%w): choose another --run folder", dir, wholefile.Cause(err))
	}
	// A link, unlike a rename, leaves what another shard has just put there.
	path := filepath.Join(dir, shardsName)
	temp := filepath.Join(dir, fmt.Sprintf(".%s.%d", e.Shard.Folder(), os.Getpid()))
	defer os.Remove(temp)
	if err := replaceFile(temp, temp+".tmp", shardsFile{Format: format, Experiment: e.Whole(), Of: e.Shard.Of}); err != nil {
		return "", err
	}
	if err := os.Link(temp, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s cannot be made (%w): choose a --run folder on another file system", path, err)
	}
	return filepath.Join(dir, e.Shard.Folder()), CheckShards(dir, e)
}

// CheckShards says why shards of the experiment, as many as its Shard names, cannot
// be played into the folder of a run.
func CheckShards(dir string, e Experiment) error {
	if _, err := os.Stat(filepath.Join(dir, runName)); err == nil {
		return fmt.Errorf("%s holds a run in one piece: choose another --run folder for shards", dir)
	}
	f, err := readShardsFile(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f.Experiment.difference(e.Whole()); err != nil {
		return fmt.Errorf("%s holds shards of another experiment: %w; choose another --run folder or give the same settings", dir, err)
	}
	if f.Of != e.Shard.Of {
		return fmt.Errorf("%s holds an experiment in %d shards, not in %d: give the same number or choose another --run folder", dir, f.Of, e.Shard.Of)
	}
	return nil
}

func readShardsFile(dir string) (f shardsFile, err error) {
	path := filepath.Join(dir, shardsName)
	data, err := readJSON(path)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("%s is damaged (%w): restore it or choose another --run folder", path, err)
	}
	if f.Format != format {
		return f, fmt.Errorf("%s has format %d, this program reads %d only: use the program that wrote it, or choose another --run folder", path, f.Format, format)
	}
	return f, nil
}

// ShardFolders puts the folders of its shards in the place of each folder of a run
// that is played in shards; other folders stay.
func ShardFolders(runs []string) (dirs []string) {
	for _, run := range runs {
		found := shardsIn(run)
		if len(found) == 0 {
			found = []string{run}
		}
		dirs = append(dirs, found...)
	}
	return dirs
}

// shardsIn are the folders of shards in the folder of a run, in their order; none
// where that is a run in one piece.
func shardsIn(run string) (dirs []string) {
	if _, err := os.Stat(filepath.Join(run, runName)); err == nil {
		return nil
	}
	entries, _ := os.ReadDir(run) // who opens it says what is wrong
	for _, entry := range entries {
		if entry.IsDir() && shardFolder.MatchString(entry.Name()) {
			dirs = append(dirs, filepath.Join(run, entry.Name()))
		}
	}
	return dirs
}
