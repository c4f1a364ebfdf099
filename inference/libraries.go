package inference

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	ggml "github.com/ollama/ollama/ml/backend/ggml/ggml/src"
)

const (
	librariesVariable = "OLLAMA_LIBRARY_PATH" // of the runtime: folders to look in instead of lib/ollama
	cpuLibraries      = "libggml-cpu-"        // begins the names of the files of the CPU's kernels
	cudaLibrary       = "libggml-cuda.so"
)

// loadRuntime has the runtime load its libraries, once. The runtime looks at none
// of them first: one that was cut short ends the process, and kernels of another
// version compute nonsense. Where one is at fault none is loaded, and the error says
// what to do.
var loadRuntime = sync.OnceValue(func() error {
	err := checkLibraries(libraryFolders(), runtimeVersion())
	if err == nil {
		ggml.OnceLoad()
		return nil
	}
	was, set := os.LookupEnv(librariesVariable)
	os.Setenv(librariesVariable, "")
	ggml.OnceLoad()
	os.Unsetenv(librariesVariable) // processes that this one starts look where it did
	if set {
		os.Setenv(librariesVariable, was)
	}
	return err
})

// runtimeVersion is the version of the module that the program has its runtime from.
func runtimeVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/ollama/ollama" {
				return m.Version
			}
		}
	}
	return ""
}

// libraryFolders are those in which the runtime looks.
func libraryFolders() []string {
	if list, ok := os.LookupEnv(librariesVariable); ok {
		return filepath.SplitList(list)
	}
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(filepath.Dir(program), "..", "lib", "ollama")}
}

// checkLibraries finds fault with what the runtime, of that version, would load out
// of these folders.
func checkLibraries(folders []string, version string) error {
	for _, dir := range folders {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("the folder of the runtime's libraries cannot be read: %w", err)
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), "libggml-") {
				continue
			}
			path := filepath.Join(dir, e.Name())
			if strings.ContainsRune(dir, filepath.ListSeparator) { // the runtime takes it for two folders
				return fmt.Errorf("%s cannot be loaded from a folder with %q in its name: move or rename it", path, filepath.ListSeparator)
			}
			if err := checkLibrary(path, version); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkLibrary reads the headers alone, the last of which stand at a library's end.
// Of what the program is released with, the name inside ends in the version of the
// runtime; of Ollama's own it does not.
func checkLibrary(path, version string) error {
	f, err := elf.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("a library of the runtime cannot be read: %w", err)
	}
	if err != nil {
		return fmt.Errorf("%s is not a whole library (%w): unpack the release again, or build it again", path, err)
	}
	defer f.Close()
	file := filepath.Base(path)
	if !strings.HasPrefix(file, cpuLibraries) && file != cudaLibrary {
		return nil
	}
	advice := "keep the bin and lib of one release together, apart from Ollama's own"
	if file == cudaLibrary {
		advice += ", or run make cuda again"
	}
	if names, _ := f.DynString(elf.DT_SONAME); !slices.Contains(names, file+"."+version) {
		return fmt.Errorf("%s is not of this program's release, which has ollama %s in it: %s", path, version, advice)
	}
	return nil
}
