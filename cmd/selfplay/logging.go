package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"selfplay/bench/cluster"
	"selfplay/inference"
)

// Without --log and --log-level only errors of the runtime are logged, to standard
// error: what matters of its loading comes as errors, and what a user should know
// is on the screen anyway.

func logFlags(root *cobra.Command) {
	root.PersistentFlags().String("log", "", "file that gets what happens as JSON lines, behind what it holds; -: standard error")
	root.PersistentFlags().String("log-level", "info", "what is logged: debug, info, warn or error; without --log as text to standard error")
}

// logs is the log of one call of the program.
type logs struct {
	file    *os.File // nil: none of its own
	restore func()   // nil: nothing was opened
	begun   time.Time
	replica bool // what it logs is its parent's
}

// open begins the log, if the command's flags ask for one.
func (l *logs) open(c *cobra.Command, args []string) error {
	flag := func(name string) *pflag.Flag { return c.Flags().Lookup(name) }
	path, named := flag("log").Value.String(), flag("log").Changed
	var level slog.Level
	name := flag("log-level").Value.String()
	if err := level.UnmarshalText([]byte(name)); err != nil || strings.ContainsAny(name, "+-") {
		return usagef("--log-level %s: give debug, info, warn or error", cluster.Quote(name))
	}
	switch {
	case named && path == "":
		return usagef("--log is empty: name a file, or - for standard error")
	case !named && !flag("log-level").Changed:
		return nil
	}
	handler, err := l.handler(c.ErrOrStderr(), path, level)
	if err != nil {
		return usagef("--log: %w", err)
	}
	before, out, flags := slog.Default(), log.Writer(), log.Flags()
	l.restore = func() { slog.SetDefault(before); log.SetOutput(out); log.SetFlags(flags) }
	slog.SetDefault(slog.New(handler))
	inference.LogRuntime()
	l.begun, l.replica = time.Now(), c.Name() == replicaName
	if !l.replica {
		slog.Info("started", "command", sectionOf(c), "args", args, "version", version, "pid", os.Getpid(), "settings", settingsOf(c))
	}
	return nil
}

// handler writes lines of JSON or, without a file, text. With a file, errors are on
// the screen all the same.
func (l *logs) handler(screen io.Writer, path string, level slog.Level) (slog.Handler, error) {
	o := &slog.HandlerOptions{Level: level}
	switch path {
	case "":
		return slog.NewTextHandler(screen, o), nil
	case "-":
		return slog.NewJSONHandler(screen, o), nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	l.file = f
	errors := slog.NewTextHandler(screen, &slog.HandlerOptions{Level: slog.LevelError})
	return slog.NewMultiHandler(slog.NewJSONHandler(f, o), errors), nil
}

// close ends the log with how the program ended. The error is on the screen.
func (l *logs) close(code int, err error) {
	if l.restore == nil {
		return
	}
	attrs := []any{"exit", code, "seconds", time.Since(l.begun).Seconds()}
	if err != nil {
		attrs = append(attrs, "error", err.Error())
	}
	if !l.replica {
		slog.Info("ended", attrs...)
	}
	l.restore()
	if l.file != nil {
		l.file.Close()
	}
}

// settingsOf are the flags that environment and file set, and where.
func settingsOf(c *cobra.Command) map[string]string {
	all := map[string]string{}
	eachSetting(c, func(f *pflag.Flag, s setting) { all[f.Name] = s.text + " (" + s.where + ")" })
	return all
}

// logOfReplica has a replica log what this process does, for logged to read.
func logOfReplica() []string {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo} {
		if slog.Default().Enabled(context.Background(), level) {
			return []string{"--log", "-", "--log-level", strings.ToLower(level.String())}
		}
	}
	return nil
}

// logged takes a line that a replica wrote into the log, if it is of its log.
func logged(replica, line string) bool {
	var record map[string]any
	var level slog.Level
	if json.Unmarshal([]byte(line), &record) != nil {
		return false
	}
	name, _ := record[slog.LevelKey].(string)
	message, ok := record[slog.MessageKey].(string)
	if !ok || level.UnmarshalText([]byte(name)) != nil {
		return false
	}
	attrs := []any{"replica", replica}
	for _, key := range slices.Sorted(maps.Keys(record)) {
		if key != slog.LevelKey && key != slog.MessageKey && key != slog.TimeKey {
			attrs = append(attrs, key, record[key])
		}
	}
	slog.Log(context.Background(), level, message, attrs...)
	return true
}
