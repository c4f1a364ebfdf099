package inference

import (
	"fmt"
	"reflect"
	"strings"

	fsggml "github.com/ollama/ollama/fs/ggml"
	"github.com/ollama/ollama/ml"
)

// bind fills the tensors of a model's struct, which get gives by name; nil if there
// is none. The tag `gguf`
// of a field is its part of the tensor's name; names of nested fields are
// joined with dots, elements of a slice are numbered. A tensor without the
// option `optional` must be there; a struct with it is filled if there is one.
// Embedded structs need no tag.
func bind(get func(name string) ml.Tensor, path string, model any) error {
	return bindStruct(get, path, "", reflect.ValueOf(model).Elem())
}

var tensorType = reflect.TypeFor[ml.Tensor]()

func bindStruct(get func(string) ml.Tensor, path, prefix string, v reflect.Value) error {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag, ok := field.Tag.Lookup("gguf")
		if !ok && !field.Anonymous {
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		if err := bindField(get, path, join(prefix, name), option == "optional", v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func bindField(get func(string) ml.Tensor, path, name string, optional bool, v reflect.Value) error {
	switch {
	case v.Type() == tensorType:
		// The zero bias and the like of ollama's nn structs have names too.
		t := get(name)
		if t == nil {
			if optional || strings.HasSuffix(name, ".bias") {
				return nil
			}
			return fmt.Errorf("%s: tensor %s is missing", path, name)
		}
		v.Set(reflect.ValueOf(t))
		return nil
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			if err := bindStruct(get, path, fmt.Sprintf("%s.%d", name, i), v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case v.Kind() == reflect.Pointer && optional:
		if v.IsNil() {
			return nil
		}
		return bindStruct(get, path, name, v.Elem())
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return bindStruct(get, path, name, v.Elem())
	case v.Kind() == reflect.Struct:
		return bindStruct(get, path, name, v)
	}
	panic("inference: a tagged field must be a tensor, struct or slice: " + name)
}

func join(prefix, name string) string {
	if prefix == "" || name == "" {
		return prefix + name
	}
	return prefix + "." + name
}

// multiplied are the types of matrices that the runtime can compute with: with
// any other it aborts the process.
var multiplied = map[fsggml.TensorType]bool{
	fsggml.TensorTypeF32: true, fsggml.TensorTypeF16: true, fsggml.TensorTypeBF16: true,
	fsggml.TensorTypeQ4_0: true, fsggml.TensorTypeQ4_1: true, fsggml.TensorTypeQ5_0: true, fsggml.TensorTypeQ5_1: true, fsggml.TensorTypeQ8_0: true,
	fsggml.TensorTypeQ2_K: true, fsggml.TensorTypeQ3_K: true, fsggml.TensorTypeQ4_K: true, fsggml.TensorTypeQ5_K: true, fsggml.TensorTypeQ6_K: true,
	fsggml.TensorTypeMXFP4: true,
	typeIQ2XXS:             true, typeIQ2XS: true, typeIQ3XXS: true, typeIQ1S: true, typeIQ4NL: true, typeIQ3S: true, typeIQ2S: true, typeIQ4XS: true, typeIQ1M: true,
}

// gathered are the types of matrices whose rows CUDA can look up.
var gathered = map[fsggml.TensorType]bool{
	fsggml.TensorTypeF32: true, fsggml.TensorTypeF16: true, fsggml.TensorTypeBF16: true, fsggml.TensorTypeQ4_0: true, fsggml.TensorTypeQ4_1: true,
	fsggml.TensorTypeQ5_0: true, fsggml.TensorTypeQ5_1: true, fsggml.TensorTypeQ8_0: true, fsggml.TensorTypeQ6_K: true,
}

// Types that fs/ggml keeps to itself.
const (
	typeIQ2XXS fsggml.TensorType = 16
	typeIQ2XS  fsggml.TensorType = 17
	typeIQ3XXS fsggml.TensorType = 18
	typeIQ1S   fsggml.TensorType = 19
	typeIQ4NL  fsggml.TensorType = 20
	typeIQ3S   fsggml.TensorType = 21
	typeIQ2S   fsggml.TensorType = 22
	typeIQ4XS  fsggml.TensorType = 23
	typeIQ1M   fsggml.TensorType = 29
)

// A shapeCheck compares tensors in a file with the sizes that its metadata
// claims, and keeps the first difference.
type shapeCheck struct {
	h   *header
	err error
}

// want demands a tensor of this shape, the row length first.
func (c *shapeCheck) want(name string, shape ...int) {
	if c.h.invent != nil {
		c.h.invent(name, false, shape)
	}
	if c.err == nil && c.h.tensors[name] == nil {
		c.err = fmt.Errorf("%s: tensor %s is missing", c.h.path, name)
	}
	c.compare(name, shape)
}

// none refuses tensors that would change what is computed, but are not read.
func (c *shapeCheck) none(names ...string) {
	for _, name := range names {
		if c.err == nil && c.h.tensors[name] != nil {
			c.err = fmt.Errorf("%s: tensor %s is not supported for architecture %s", c.h.path, name, c.h.kv.Architecture())
		}
	}
}

// optional demands the shape of a tensor that may be missing, and says whether
// it is there.
func (c *shapeCheck) optional(name string, shape ...int) bool {
	if c.h.invent != nil {
		c.h.invent(name, true, shape)
	}
	return c.compare(name, shape)
}

func (c *shapeCheck) compare(name string, shape []int) bool {
	t := c.h.tensors[name]
	if c.err != nil || t == nil {
		return false
	}
	same := len(t.Shape) == len(shape)
	for i := range shape {
		same = same && t.Shape[i] == uint64(shape[i])
	}
	switch kind := fsggml.TensorType(t.Kind); {
	case len(shape) == 1 && kind != fsggml.TensorTypeF32:
		c.err = fmt.Errorf("%s: tensor %s has type %s (%d); only F32 works there", c.h.path, name, kind, t.Kind)
	case len(shape) == 2 && !multiplied[kind]:
		c.err = fmt.Errorf("%s: tensor %s has type %s (%d), which the runtime cannot multiply", c.h.path, name, kind, t.Kind)
	case !same:
		c.err = fmt.Errorf("%s: tensor %s has shape %v; the metadata asks for %v", c.h.path, name, t.Shape, shape)
	}
	return true
}
