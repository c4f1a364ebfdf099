module selfplay

go 1.26

require (
	github.com/daulet/tokenizers v1.24.0
	github.com/nikolalohinski/gonja/v2 v2.9.1
	github.com/ollama/ollama v0.24.0
	github.com/spf13/cobra v1.10.2
	golang.org/x/sync v0.25.0
	modernc.org/sqlite v1.62.0
)
