package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// parses says what is wrong with a line of the program's, without carrying it out:
// the command is not there, or does not take such flags and arguments.
func parses(t *testing.T, args []string) error {
	t.Helper()
	for _, make := range []func() *cobra.Command{benchCommand, mergeCommand, reportCommand, slurmCommand} {
		c := make()
		if c.Name() != args[0] {
			continue
		}
		if err := c.ParseFlags(args[1:]); err != nil {
			return err
		}
		rest := c.Flags().Args()
		if c.Name() == "slurm" { // bench's flags follow
			if len(rest) < 1 || c.ArgsLenAtDash() != 1 {
				return errors.New("slurm: no RUN or no --")
			}
			return parses(t, append([]string{"bench"}, rest[1:]...))
		}
		return c.ValidateArgs(rest)
	}
	return errors.New("no such command is known here")
}

// A manifest is what is used of a Kubernetes Job and a PersistentVolumeClaim. A field
// that is not among them is refused, as the cluster refuses one that it does not know.
type manifest struct {
	APIVersion, Kind string
	Metadata         struct{ Name string }
	Spec             struct {
		AccessModes          []string
		Resources            resources
		CompletionMode       string
		Completions          int
		Parallelism          int
		BackoffLimit         int
		BackoffLimitPerIndex int
		PodReplacementPolicy string
		PodFailurePolicy     struct {
			Rules []struct {
				Action          string
				OnPodConditions []struct{ Type, Status string }
				OnExitCodes     struct {
					ContainerName, Operator string
					Values                  []int
				}
			}
		}
		Template struct {
			Spec struct {
				RestartPolicy                 string
				TerminationGracePeriodSeconds int
				Containers                    []struct {
					Name, Image string
					Args        []string
					Env         []struct {
						Name, Value string
						ValueFrom   struct {
							ResourceFieldRef struct{ Resource string }
						}
					}
					Resources    resources
					VolumeMounts []struct{ Name, MountPath string }
				}
				Volumes []struct {
					Name                  string
					PersistentVolumeClaim struct{ ClaimName string }
				}
			}
		}
	}
}

type resources struct{ Requests, Limits map[string]string }

// manifests reads a file of them. YAML's library wants the names in lower case.
func manifests(t *testing.T, path string) (all []manifest) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	from := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var tree yaml.Node
		if err := from.Decode(&tree); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		lowerKeys(&tree)
		lower, err := yaml.Marshal(&tree)
		if err != nil {
			t.Fatal(err)
		}
		var m manifest
		strict := yaml.NewDecoder(bytes.NewReader(lower))
		strict.KnownFields(true)
		if err := strict.Decode(&m); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, m)
	}
}

func lowerKeys(n *yaml.Node) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			child.Value = strings.ToLower(child.Value)
		}
		lowerKeys(child)
	}
}

// The manifests are of one experiment: as many shards as completions, the joined
// folder the shards', and every line of the program one that it takes.
func TestManifests(t *testing.T) {
	shards := manifests(t, "../../bench/cluster/shards.yaml")
	if len(shards) != 2 || shards[0].Kind != "PersistentVolumeClaim" || shards[1].Kind != "Job" {
		t.Fatalf("%+v", shards)
	}
	claim, job := shards[0], shards[1]
	merge := manifests(t, "../../bench/cluster/merge.yaml")[0]
	for _, m := range []manifest{job, merge} {
		pod := m.Spec.Template.Spec
		if m.APIVersion != "batch/v1" || pod.RestartPolicy != "Never" || pod.Volumes[0].PersistentVolumeClaim.ClaimName != claim.Metadata.Name ||
			pod.Containers[0].VolumeMounts[0].Name != pod.Volumes[0].Name {
			t.Errorf("%+v", m)
		}
		if err := parses(t, pod.Containers[0].Args); err != nil {
			t.Errorf("%q: %v", pod.Containers[0].Args, err)
		}
	}
	spec, shard := job.Spec, job.Spec.Template.Spec.Containers[0]
	f := &benchFlags{}
	if err := benchCommandOf(f).ParseFlags(shard.Args[1:]); err != nil {
		t.Fatal(err)
	}
	for i := range spec.Completions + 1 {
		got, _, err := parseShard(f.shard, func(string) string { return []string{"0", "1", "2", "3", "4"}[i] })
		if beyond := i == spec.Completions; beyond != (err != nil) || !beyond && (got.Number != i+1 || got.Of != spec.Completions) {
			t.Errorf("index %d of %d is shard %v, %v", i, spec.Completions, got, err)
		}
	}
	if spec.CompletionMode != "Indexed" || spec.Parallelism != spec.Completions || spec.BackoffLimitPerIndex < 1 || spec.PodReplacementPolicy != "Failed" ||
		spec.Template.Spec.TerminationGracePeriodSeconds < 60 || shard.Resources.Limits["nvidia.com/gpu"] == "" || claim.Spec.AccessModes[0] != "ReadWriteMany" {
		t.Errorf("%+v", spec)
	}
	rules := spec.PodFailurePolicy.Rules
	if len(rules) != 2 || rules[0].Action != "Ignore" || rules[0].OnPodConditions[0].Type != "DisruptionTarget" ||
		rules[1].Action != "FailIndex" || rules[1].OnExitCodes.ContainerName != shard.Name || rules[1].OnExitCodes.Values[0] != 2 {
		t.Errorf("%+v", rules)
	}
	out := "--out=" + f.run + "/merged"
	if got := merge.Spec.Template.Spec.Containers[0].Args; len(got) != 3 || got[1] != out || got[2] != f.run {
		t.Errorf("the shards are in %s, and joined by %q", f.run, got)
	}
}

// Every line of the program in the page is one that it takes.
func TestClusterPage(t *testing.T) {
	page, err := os.ReadFile("../../bench/cluster/README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(page)) {
		line, _, _ = strings.Cut(line, " # ")
		args := strings.Fields(line)
		if len(args) < 2 || args[0] != "selfplay" {
			continue
		}
		found++
		if err := parses(t, args[1:]); err != nil {
			t.Errorf("%s: %v", strings.TrimSpace(line), err)
		}
	}
	if found < 5 {
		t.Errorf("%d lines", found)
	}
	if err := parses(t, strings.Fields("slurm runs/x --shards 4 -- --modl x")); err == nil {
		t.Error("a wrong flag passes")
	}
}

var kubectlLine = regexp.MustCompile(`(?m)^#? *(kubectl .+)$`)

// The page's commands for Kubernetes are of the manifests: files that are there, jobs
// that they define by then, the image that is built, and the manifest says the same.
func TestKubernetesCommands(t *testing.T) {
	const root = "../../"
	lines := func(path string) (all []string) {
		text, err := os.ReadFile(root + path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range kubectlLine.FindAllStringSubmatch(string(text), -1) {
			all = append(all, m[1])
		}
		return all
	}
	page := lines("bench/cluster/README.md")
	if again := lines("bench/cluster/shards.yaml"); !slices.Equal(page, again) || len(page) < 3 {
		t.Errorf("the page says %q, the manifest %q", page, again)
	}
	var applied []manifest
	for _, line := range page {
		args := strings.Fields(line)[1:]
		switch {
		case len(args) == 3 && args[0] == "apply" && args[1] == "-f":
			applied = append(applied, manifests(t, root+args[2])...)
		case len(args) == 4 && args[0] == "wait" && args[1] == "--for=condition=complete" && strings.HasPrefix(args[3], "--timeout="):
			name := strings.TrimPrefix(args[2], "job/")
			if name == args[2] || !slices.ContainsFunc(applied, func(m manifest) bool { return m.Kind == "Job" && m.Metadata.Name == name }) {
				t.Errorf("%s: no job of that name has been applied", line)
			}
		default:
			t.Errorf("%s: nothing checks such a command", line)
		}
	}
	text, err := os.ReadFile(root + "bench/cluster/README.md")
	if err != nil {
		t.Fatal(err)
	}
	build := regexp.MustCompile("`docker build -f (\\S+) -t (\\S+) \\.`").FindStringSubmatch(string(text))
	if build == nil {
		t.Fatal("the page does not say how the image is made")
	}
	if _, err := os.Stat(root + build[1]); err != nil {
		t.Error(err)
	}
	jobs := 0
	for _, m := range applied {
		for _, c := range m.Spec.Template.Spec.Containers {
			jobs++
			if c.Image != build[2]+":latest" {
				t.Errorf("%s runs %s, and %s is built", m.Metadata.Name, c.Image, build[2])
			}
		}
	}
	if jobs != 2 {
		t.Errorf("%d jobs", jobs)
	}
}
