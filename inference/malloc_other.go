//go:build !linux

package inference

func oneArena() {}
