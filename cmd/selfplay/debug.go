package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"selfplay/bench/cluster"
	"selfplay/games"
	"selfplay/inference"
	"selfplay/prompts"
)

// The debug commands map lines of JSON on standard input to lines on standard
// output, so that other programs can compare themselves with this one.

func debugCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "debug",
		Short: "Show single steps of the work, as JSON lines",
		Example: `  selfplay debug extract < completions.jsonl
  selfplay debug tokenize --model model.gguf < texts.jsonl`,
	}
	c.AddCommand(traceCommand(), extractCommand(), tokenizeCommand(), greedyCommand())
	return c
}

func traceCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "trace < in.jsonl",
		Short: "Replay scripted games: what each player is shown, and the outcome",
		Example: `  selfplay debug trace < in.jsonl > out.jsonl
  echo '{"env": "Nim-v0", "seed": 1, "langs": ["en", "de"],
    "steps": [{"action": "[0 1]"}]}' | tr -d '\n' | selfplay debug trace`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			set, err := openLocales(dir)
			if err != nil {
				return err
			}
			return mapLines(c, func(line []byte) ([]byte, error) { return games.ReplayTrace(line, set) })
		},
	}
	c.Flags().StringVar(&dir, "locales", "", "folder of locale files (default: built in)")
	return c
}

func extractCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "extract < in.jsonl",
		Short: "Take completions apart: thinking, action, status",
		Example: `  selfplay debug extract < completions.jsonl
  echo '{"completion": "I take \\boxed{0 3}"}' | selfplay debug extract`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return mapLines(c, func(line []byte) ([]byte, error) {
				var in struct {
					Completion *string `json:"completion"`
				}
				if err := json.Unmarshal(line, &in); err != nil {
					return nil, err
				}
				if in.Completion == nil {
					return nil, fmt.Errorf(`"completion" is missing`)
				}
				a := prompts.Extract(*in.Completion, false)
				return toJSON(struct {
					Action   string         `json:"action"`
					Status   prompts.Status `json:"status"`
					Thinking string         `json:"thinking"`
				}{a.Action, a.Status, a.Thinking})
			})
		},
	}
}

// A request is one input line of tokenize and greedy.
type request struct {
	Text     *string             `json:"text"`
	Messages []inference.Message `json:"messages"`
	IDs      []int32             `json:"ids"`
}

// prompt gives the text and tokens that the line asks for.
func (r request) prompt(c *inference.Codec) (string, []int32, error) {
	switch {
	case r.Messages != nil:
		return c.Chat(r.Messages)
	case r.Text != nil:
		ids, err := c.Encode(*r.Text)
		return *r.Text, ids, err
	case len(r.IDs) > 0:
		return "", r.IDs, nil
	}
	return "", nil, fmt.Errorf(`give "text", "messages" or "ids"`)
}

func tokenizeCommand() *cobra.Command {
	var model, think string
	c := &cobra.Command{
		Use:   "tokenize --model M < in.jsonl",
		Short: "Tokenize texts and chats",
		Example: `  selfplay debug tokenize --model model.gguf < texts.jsonl
  echo '{"messages": [{"role": "user", "content": "hi"}]}' |
    selfplay debug tokenize --model model.gguf --think off`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkThink(think); err != nil {
				return err
			}
			path, err := findModel(c, model)
			if err != nil {
				return err
			}
			codec, err := inference.OpenCodec(path)
			if err != nil {
				return err
			}
			defer codec.Close()
			if err := codec.SetThink(think); err != nil {
				return err
			}
			return mapLines(c, func(line []byte) ([]byte, error) {
				var in request
				if err := json.Unmarshal(line, &in); err != nil {
					return nil, err
				}
				text, ids, err := in.prompt(codec)
				if err != nil {
					return nil, err
				}
				return toJSON(struct {
					Prompt string  `json:"prompt"`
					IDs    []int32 `json:"ids"`
				}{text, notNil(ids)})
			})
		},
	}
	c.Flags().StringVar(&model, "model", "", fileFlag+"; a GGUF file without weights will do")
	thinkFlag(c, &think)
	return c
}

func greedyCommand() *cobra.Command {
	var model, think string
	var n, context int
	var device deviceFlags
	c := &cobra.Command{
		Use:   "greedy --model M < in.jsonl",
		Short: "Decode greedily, with the likeliest tokens of every step",
		Example: `  selfplay debug greedy --model model.gguf --n 8 < prompts.jsonl
  echo '{"text": "The capital of France is"}' |
    selfplay debug greedy --model model.gguf --device cpu`,
		Args: asUsage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 1 {
				return usagef("--n %d: give at least 1", n)
			}
			if context < 0 {
				return usagef("--context %d: it must not be negative", context)
			}
			if err := checkThink(think); err != nil {
				return err
			}
			path, err := findModel(c, model)
			if err != nil {
				return err
			}
			o := inference.Options{Slots: 1, Cells: context, Think: think}
			at, err := device.choose(c.ErrOrStderr(), path, o)
			if err != nil {
				return err
			}
			defer at.close()
			at.here(&o)
			if movesCursor(c.ErrOrStderr()) {
				o.Progress = loading(c.ErrOrStderr())
			}
			m, err := inference.Open(path, o)
			if err != nil {
				return err
			}
			defer m.Close()
			return mapLines(c, func(line []byte) ([]byte, error) {
				var in request
				if err := json.Unmarshal(line, &in); err != nil {
					return nil, err
				}
				return greedy(m, in, n)
			})
		},
	}
	c.Flags().StringVar(&model, "model", "", fileFlag)
	thinkFlag(c, &think)
	device.addTo(c.Flags(), false)
	c.Flags().IntVar(&n, "n", 32, "tokens at most")
	c.Flags().IntVar(&context, "context", 0, "tokens of prompt and answer together (default 2048)")
	return c
}

// thinkFlag is the same for all commands that write prompts.
func thinkFlag(c *cobra.Command, think *string) {
	c.Flags().StringVar(think, "think", "auto", "thinking: on, off, or auto, as the model's chat template has it")
}

func checkThink(think string) error {
	if think != "auto" && think != "on" && think != "off" {
		return usagef("--think %s: give auto, on or off", cluster.Quote(think))
	}
	return nil
}

// topShown is how many of the likeliest tokens a step lists.
const topShown = 8

func greedy(m *inference.Model, in request, n int) ([]byte, error) {
	_, ids, err := in.prompt(m.Codec)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 || len(ids) >= m.Limits().Cells {
		return nil, fmt.Errorf("a prompt of %d tokens; the context holds %d: raise --context", len(ids), m.Limits().Cells)
	}
	steps, err := m.Greedy(ids, n, topShown)
	if err != nil {
		return nil, err
	}
	out := struct {
		IDs  []int32              `json:"ids"`
		Text string               `json:"text"`
		Top  [][]inference.Scored `json:"top"`
	}{}
	for _, s := range steps {
		out.IDs = append(out.IDs, s.ID)
		out.Top = append(out.Top, s.Top)
	}
	out.Text = m.Codec.Text(out.IDs)
	return toJSON(out)
}

func notNil(ids []int32) []int32 {
	if ids == nil {
		return []int32{}
	}
	return ids
}

// mapLines applies f to every line of standard input that is not blank. An
// error names the line.
func mapLines(c *cobra.Command, f func(line []byte) ([]byte, error)) error {
	in := bufio.NewReader(c.InOrStdin())
	out := bufio.NewWriter(c.OutOrStdout())
	defer out.Flush()
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			result, ferr := f(line)
			if ferr != nil {
				return fmt.Errorf("line %d: %w", n, ferr)
			}
			if _, werr := fmt.Fprintf(out, "%s\n", harmlessJSON(result)); werr != nil {
				return werr
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// toJSON encodes without escaping what HTML would mind.
func toJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return harmlessJSON(bytes.TrimRight(b.Bytes(), "\n")), err
}
