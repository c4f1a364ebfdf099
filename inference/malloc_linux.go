package inference

// #include <malloc.h>
// #ifdef M_ARENA_MAX
// static void oneArena(void) { mallopt(M_ARENA_MAX, 1); }
// #else
// static void oneArena(void) {}
// #endif
import "C"

// oneArena has glibc keep one heap for all threads. Go calls C from changing
// threads, and with a heap for each of them the runtime's large short-lived
// buffers would be held many times over.
func oneArena() { C.oneArena() }
