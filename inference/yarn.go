package inference

import (
	"math"
	"slices"

	"github.com/ollama/ollama/ml/nn/rope"
)

// yarn stretches rotary positions: slow turns by the factor, fast ones not at
// all, those between by part of it.
type yarn struct {
	factor      float32
	original    int // tokens of the context that the model was first trained on
	fast, slow  float32
	attention   float32 // that the runtime is to scale attention with, beyond its own 1 + ln(factor)/10
	temperature float32
}

func (y *yarn) scale() float32 {
	if y == nil {
		return 1
	}
	return 1 / y.factor
}

func (y *yarn) options() []func(*rope.Options) {
	if y == nil {
		return nil
	}
	return []func(*rope.Options){
		rope.WithOriginalContextLength(y.original), rope.WithExtrapolationFactor(1),
		rope.WithAttentionFactor(y.attention), rope.WithBetaFast(y.fast), rope.WithBetaSlow(y.slow),
	}
}

// sharpness is what a query is multiplied with: more with each further stretch
// of the original context.
func (y *yarn) sharpness(position int32) float32 {
	stretch := math.Floor(float64(position) / float64(y.original))
	return float32(1 + float64(y.temperature)*math.Log(1+stretch))
}

// The keys of YaRN that mean the same under two names: as llama.cpp's converter
// writes them, and as Ollama's does.
var (
	yarnFast        = []string{"rope.scaling.yarn_beta_fast", "rope.scaling.beta_fast"}
	yarnSlow        = []string{"rope.scaling.yarn_beta_slow", "rope.scaling.beta_slow"}
	yarnMscaleAll   = []string{"rope.scaling.yarn_log_multiplier", "rope.scaling.mscale_all_dim"}
	yarnTemperature = []string{"attention.temperature_scale", "rope.scaling_beta"}
)

const (
	yarnFactor   = "rope.scaling.factor"
	yarnOriginal = "rope.scaling.original_context_length"
	yarnMscale   = "rope.scaling.mscale" // llama.cpp's converter leaves it out, and means 1
)

// yarn reads the scaling, nil where the file has none. Each of its numbers must
// be there. sharp is for Mistral's models, which have the attention's scale and
// growing sharpness beside it; the others scale attention as YaRN's authors do.
func (c *keyCheck) yarn(sharp bool) *yarn {
	known := slices.Concat([]string{yarnFactor, yarnOriginal}, yarnFast, yarnSlow)
	if sharp {
		known = slices.Concat(known, []string{yarnMscale}, yarnMscaleAll, yarnTemperature)
	}
	if c.scaling([]string{"", "none", "yarn"}, known...) != "yarn" {
		for _, key := range known {
			// Ollama's converter writes zeros for what a model does not have.
			if v := c.value(key); v != nil && v != float32(0) && v != uint32(0) {
				c.fail(key, " is given, but key rope.scaling.type does not say yarn")
			}
		}
		return nil
	}
	y := &yarn{
		factor: c.float(yarnFactor), original: c.count(yarnOriginal),
		fast: c.either(yarnFast), slow: c.either(yarnSlow), attention: 1,
	}
	if c.err == nil && !(y.factor >= 1 && y.fast > y.slow && y.slow > 0) { // the runtime takes a 0 for its own default
		c.fail(yarnFactor, " is %g and the bounds of YaRN are %g and %g: they make no scaling", y.factor, y.fast, y.slow)
	}
	if sharp {
		c.sharpen(y)
	}
	return y
}

// sharpen reads what Mistral's models have beside YaRN.
func (c *keyCheck) sharpen(y *yarn) {
	y.temperature = c.either(yarnTemperature)
	all, mscale := c.either(yarnMscaleAll), float32(1)
	if c.has(yarnMscale) || !c.has(yarnMscaleAll[0]) {
		mscale = c.either([]string{yarnMscale})
	}
	// The runtime scales attention with 1 + ln(factor)/10 on its own, which is
	// right for an mscale of 1 alone.
	growth := 0.1 * math.Log(float64(y.factor))
	y.attention = float32((growth*float64(mscale)+1)/(growth*float64(all)+1)) / float32(growth+1)
}

// either is a number, at least 0, that has several names. Where a file uses two
// of them they must agree.
func (c *keyCheck) either(names []string) float32 {
	var found any
	for _, name := range names {
		v := c.value(name)
		if x, ok := v.(float32); v != nil && (!ok || !(x >= 0)) {
			c.fail(name, " is %v, not a number of at least 0", v)
		}
		if v != nil && found != nil && v != found {
			c.fail(name, " is %v, but key %s.%s is %v", v, c.h.kv.Architecture(), names[0], found)
		}
		if v != nil {
			found = v
		}
	}
	if found == nil {
		c.fail(names[0], " is missing")
	}
	x, _ := found.(float32)
	return x
}
