package bench

import "fmt"

// otherKernels says that the session that begins computes with other kernels of
// the CPU than the one before it, as another build or another CPU does. They round
// in their own way, so that the games from here on are not to the letter those
// that the run would have had; "" if there is nothing to say.
func (r *Run) otherKernels() string {
	if len(r.How) < 2 {
		return ""
	}
	const key = "kernels"
	before, now := r.How[len(r.How)-2].Settings[key], r.How[len(r.How)-1].Settings[key]
	if before == now || before == "" || now == "" {
		return ""
	}
	return fmt.Sprintf("the run was played with other kernels until now (%s; now %s): rounding differs a little, and with it some moves", before, now)
}
