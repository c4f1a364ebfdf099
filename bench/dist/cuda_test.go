package dist

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// A CMake that links two empty libraries, the module with the flags that it was told.
const cmake = `#!/bin/bash
set -e
if [ "$1" = --build ]; then
	cd "$2"
	mkdir -p lib/ollama
	cc -shared -o lib/ollama/libggml-base.so.0 -x c /dev/null
	cc -shared $(cat flags) -o lib/ollama/libggml-cuda.so -x c /dev/null
	exit
fi
for told; do
	case $told in
	-DCMAKE_MODULE_LINKER_FLAGS=*) flags=${told#*=} ;;
	esac
done
echo "$flags" >"$4/flags"
echo CUDA Toolkit found
`

// TestCUDALibraryNamesItsVersion: a program tells by it whether the library suits it.
func TestCUDALibraryNamesItsVersion(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"bin/cmake": cmake, "toolkit/bin/nvcc": "#!/bin/sh\necho fake\n", "source/ml/backend/ggml/ggml/src/ggml-cuda/CMakeLists.txt": ""})
	made := filepath.Join(dir, "lib", "ollama")
	c := exec.Command("../gpu/cuda.sh", filepath.Join(dir, "source"), "v1.2.3", made)
	c.Env = append(os.Environ(), "CUDA_HOME="+filepath.Join(dir, "toolkit"), "TREES="+filepath.Join(dir, "tree"), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := elf.Open(filepath.Join(made, "libggml-cuda.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if names, err := f.DynString(elf.DT_SONAME); !slices.Equal(names, []string{"libggml-cuda.so.v1.2.3"}) {
		t.Errorf("the name inside is %q, %v", names, err)
	}
}
