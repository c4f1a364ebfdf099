package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// line prints a finding behind its name. More lines of it stand below. What comes
// from a model cannot steer the terminal.
func line(w io.Writer, name, text string) {
	const width = 10
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+strings.Repeat(" ", width))
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%-*s%s", width, name, text), " "))
}

func (d *checkup) printMachine(w io.Writer) {
	m := d.Machine
	line(w, "program", fmt.Sprintf("selfplay %s, %s, ollama %s, tokenizers %s", d.Program["selfplay"], d.Program["go"], d.Program["ollama"], d.Program["tokenizers"]))
	line(w, "cpu", fmt.Sprintf("%s, %d cores", m.CPU, m.Cores))
	kernels := "the runtime was compiled for "
	if m.Kernels != "" {
		kernels = "the runtime computes with " + m.Kernels + ", compiled for "
	}
	line(w, "", kernels+strings.Join(m.Features, " "))
	limit := "no limit of a control group"
	if m.MemLimit > 0 {
		limit = "the control group's limit is " + megabytes(m.MemLimit)
	}
	line(w, "memory", fmt.Sprintf("%s free of %s, %s", megabytes(m.MemFree), megabytes(m.MemTotal), limit))
	if len(m.GPUs) == 0 {
		line(w, "gpu", "no GPU: computing on the CPU")
	}
	for _, g := range m.GPUs {
		line(w, "gpu", fmt.Sprintf("%s, %s, %s free of %s", g.Name, g.Description, megabytes(g.Free), megabytes(g.Total)))
	}
	d.NVML.print(w)
	for _, f := range d.Folders {
		text := f.Path + ": not there"
		if f.There {
			text = fmt.Sprintf("%s: %s free", f.Path, megabytes(f.Free))
		}
		line(w, f.Use, text)
	}
	for _, text := range d.Warnings {
		line(w, "warning", text)
	}
}

func (d *checkup) printModel(w io.Writer, name string) {
	m := d.Model
	title := ""
	if m.Name != "" {
		title = fmt.Sprintf(" (%q)", m.Name)
	}
	fmt.Fprintln(w)
	line(w, "model", name+title)
	var types []string
	for _, t := range m.Types {
		types = append(types, fmt.Sprintf("%d %s (%s)", t.Tensors, t.Type, millions(t.Parameters)))
	}
	line(w, "", fmt.Sprintf("%s of %d layers, %s parameters; tensors: %s", m.Architecture, m.Layers, millions(m.Parameters), strings.Join(types, ", ")))
	bos := "no token in front of a prompt"
	if m.BOS != "" {
		bos = "a prompt begins with " + m.BOS
	}
	line(w, "", fmt.Sprintf("context of %d tokens, vocabulary of %d; %s; a turn ends with %s", m.Context, m.Vocab, bos, strings.Join(m.Ends, " ")))
	line(w, "chat", m.Chat)
	if m.Note != "" {
		line(w, "note", m.Note)
	}
	if m.Thinking {
		line(w, "thinking", "the template has a switch: --think on or off")
	} else {
		line(w, "thinking", "the template has no switch for it")
	}
}

func (d *checkup) printPlan(w io.Writer) {
	p := d.Plan
	line(w, "plan", p.String())
	rings := p.Ring * uint64(p.Kept)
	text := fmt.Sprintf("%.1f KB of cache a token", float64(p.Token)/(1<<10))
	if rings > 0 {
		text += fmt.Sprintf(", %s for what %d slots see through windows", megabytes(rings), p.Kept)
	}
	text += fmt.Sprintf(", working set %s", megabytes(d.Working))
	if used := p.Weights + rings + d.Working; p.MemFree > used && p.Token > 0 {
		text += fmt.Sprintf("; memory has room for %d tokens", (p.MemFree-used)/p.Token)
	}
	line(w, "", text)
}

func (d *checkup) printAmong(w io.Writer) {
	line(w, "", fmt.Sprintf("among %d slots logits differ by up to %.4f from those computed alone: GPUs round by the number of rows, so that games are not played again bit by bit", d.Among.Slots, d.Among.Difference))
}

func (d *checkup) printAnswer(w io.Writer) {
	a := d.Answer
	line(w, "answer", a.Text)
	text := fmt.Sprintf("%d tokens read at %.1f tokens/s", a.Prompt, a.Read)
	if a.Written > 0 {
		text += fmt.Sprintf(", %d written at %.1f tokens/s, alone", a.Tokens, a.Written)
	}
	line(w, "", text)
}

// megabytes is an amount of memory for people.
func megabytes(n uint64) string {
	if n >= 10<<30 {
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// millions is a number of parameters for people.
func millions(n uint64) string {
	if n >= 1e9 {
		return fmt.Sprintf("%.2f billion", float64(n)/1e9)
	}
	return fmt.Sprintf("%.2f million", float64(n)/1e6)
}
