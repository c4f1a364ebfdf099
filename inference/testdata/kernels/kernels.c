// A library of kernels for the CPU as the runtime loads it. It scores as it was
// compiled to, and claims features that tell it from all others; what it computes
// with are the program's kernels.
#include "ggml-backend-impl.h"
#include "ggml-cpu.h"
#include <string.h>

static struct ggml_backend_reg reg;
static struct ggml_backend_device device;

static struct ggml_backend_feature *features(ggml_backend_reg_t r) {
	static struct ggml_backend_feature list[] = {{"AVX512_BF16", "1"}, {"WIDTH", "16"}, {NULL, NULL}};
	return list;
}

static void *find(ggml_backend_reg_t r, const char *name) {
	return strcmp(name, "ggml_backend_get_features") ? ggml_backend_cpu_reg()->iface.get_proc_address(r, name) : (void *)features;
}

static ggml_backend_dev_t get(ggml_backend_reg_t r, size_t i) { return &device; }

int ggml_backend_score(void) { return SCORE; }

ggml_backend_reg_t ggml_backend_init(void) {
	reg = *ggml_backend_cpu_reg();
	device = *ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0);
	device.reg = &reg;
	reg.iface.get_device = get;
	reg.iface.get_proc_address = find;
	return &reg;
}
