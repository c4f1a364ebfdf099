package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"selfplay/bench"
)

func TestReplay(t *testing.T) {
	run := randomRun(t) // 12 games
	for _, c := range []struct {
		args  string
		lines int    // of standard output
		first string // what the first of them holds
	}{
		{"", 12, "      0  Nim-v0/en-en/0 "},
		{"--lang ar", 8, "Nim-v0/en-ar/0 "},
		{"--lang ar-en", 2, "Nim-v0/ar-en/0 "},
		{"--game Nim --limit 3", 3, "Nim-v0/en-en/0 "},
		{"--game Nim-v0 --longer 1000", 0, ""},
		{"--cause length", 0, ""},
		{"--winner draw", 0, ""},
		{"--json --limit 1", 1, `{"position":0,"id":"Nim-v0/en-en/0","game":"Nim-v0","langs":["en","en"],`},
	} {
		r := selfplay("", append([]string{"replay", run}, strings.Fields(c.args)...)...)
		if r.code != 0 || strings.Count(r.stdout, "\n") != c.lines || !strings.Contains(r.stdout, c.first) || r.stderr != "" {
			t.Errorf("%s: code %d, %s%s", c.args, r.code, r.stdout, r.stderr)
		}
	}
	won := 0
	for _, winner := range []string{"0", "1"} {
		won += strings.Count(selfplay("", "replay", run, "--winner", winner).stdout, "seat "+winner+" won")
	}
	if won != 12 {
		t.Errorf("%d games were won", won)
	}
}

func TestReplayOfAGame(t *testing.T) {
	run := randomRun(t)
	text := selfplay("", "replay", run, "Nim-v0/ar-en/1")
	if text.code != 0 || !strings.HasPrefix(text.stdout, "Nim-v0/ar-en/1: won by seat ") || !strings.Contains(text.stdout, "[اللعبة]") || !strings.Contains(text.stdout, "[GAME]") {
		t.Fatalf("code %d: %s%s", text.code, text.stdout, text.stderr)
	}
	position := ""
	for line := range strings.Lines(selfplay("", "replay", run, "--json", "--lang", "ar-en").stdout) {
		var l bench.Listed
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.ID == "Nim-v0/ar-en/1" {
			position = fmt.Sprint(l.Position)
		}
	}
	for _, name := range []string{"ar-en/1", "NIM-v0/AR-EN/1", position} {
		if r := selfplay("", "replay", run, name); r.stdout != text.stdout {
			t.Errorf("%s: code %d, %.100s%s", name, r.code, r.stdout, r.stderr)
		}
	}
	folder := t.TempDir()
	plain, html := filepath.Join(folder, "game.txt"), filepath.Join(folder, "game.html")
	r := selfplay("", "replay", run, "ar-en/1", "--text", plain, "--html", html)
	if r.code != 0 || r.stdout != "" || r.stderr != fmt.Sprintf("game: %s\ngame: %s\n", plain, html) {
		t.Errorf("code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	written, err := os.ReadFile(plain)
	if err != nil || string(written) != text.stdout {
		t.Errorf("%v: %s", err, written)
	}
	page, err := os.ReadFile(html)
	if err != nil || !strings.Contains(string(page), "<title>selfplay: Nim-v0/ar-en/1</title>") || !strings.Contains(string(page), `dir="rtl" lang="ar"`) {
		t.Errorf("%v: %.300s", err, page)
	}
}

func TestReplayRefuses(t *testing.T) {
	run, broken, foreign := randomRun(t), randomRun(t), randomRun(t)
	os.Truncate(filepath.Join(broken, "games.db"), 3*4096)
	os.WriteFile(filepath.Join(foreign, "games.db"), []byte(strings.Repeat("\x1b[2J", 1024)), 0o644)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{run + " nope", 1, "holds no ended game"},
		{run + " 12", 1, "holds no ended game"},
		{run + " /1", 2, "could be several games, such as Nim-v0/en-en/1, "},
		{run + " 1 --lang ar", 2, "--lang is for the list of games"},
		{run + " --html x.html", 2, "--html writes one game"},
		{run + " --lang fr", 2, "--lang fr: the run has en, ar"},
		{run + " --game TicTacToe", 2, "--game TicTacToe: the run has Nim-v0"},
		{run + " --winner 2", 2, "--winner 2: give 0, 1 or draw"},
		{run + " --cause bad", 2, "--cause bad: give one of invalid, refused"},
		{run + " --longer -1", 2, "must not be negative"},
		{run + " 1 --html " + t.TempDir(), 1, "--html: "},
		{run + " 1 --text " + run + "/no/such.txt", 1, "--text: "},
		{t.TempDir(), 1, "is no run folder"},
		{broken, 1, "games.db"},
		{foreign, 1, "games.db"},
		{"", 2, "arg"},
	} {
		r := selfplay("", append([]string{"replay"}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) || strings.Count(r.stderr, "\n") != 1 || r.stdout != "" || strings.Contains(r.stderr, "\x1b") {
			t.Errorf("%s: code %d, %s%s", c.args, r.code, r.stdout, r.stderr)
		}
	}
}
