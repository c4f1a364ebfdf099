package bench

import (
	"bytes"
	"strings"
	"testing"
)

// TestOtherKernels: a run that goes on with other kernels says so, and only then.
func TestOtherKernels(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ kernels, want string }{
		{"AVX2", ""},
		{"AVX2", ""},
		{"libggml-cpu-avx512.so: AVX512", "until now (AVX2; now libggml-cpu-avx512.so: AVX512)"},
		{"libggml-cpu-avx512.so: AVX512", ""},
	} {
		var said bytes.Buffer
		_, err := Play(t.Context(), Options{
			Dir: dir, Experiment: testExperiment(), Player: fakePlayer, Progress: &said,
			Session: Session{Settings: map[string]string{"kernels": c.kernels}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := said.String(); !strings.Contains(got, c.want) || (c.want == "") != !strings.Contains(got, "other kernels") {
			t.Errorf("with %q it said %q, want %q", c.kernels, got, c.want)
		}
	}
}
