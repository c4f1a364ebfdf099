package inference

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/ollama/ollama/ml"
)

// bind fills the tensors of a model's struct from the backend. The tag `gguf`
// of a field is its part of the tensor's name; names of nested fields are
// joined with dots, elements of a slice are numbered. A tensor without the
// option `optional` must be there.
func bind(be ml.Backend, path string, model any) error {
	return bindStruct(be, path, "", reflect.ValueOf(model).Elem())
}

var tensorType = reflect.TypeFor[ml.Tensor]()

func bindStruct(be ml.Backend, path, prefix string, v reflect.Value) error {
	for i := range v.NumField() {
		tag, ok := v.Type().Field(i).Tag.Lookup("gguf")
		if !ok {
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		if err := bindField(be, path, join(prefix, name), option == "optional", v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func bindField(be ml.Backend, path, name string, optional bool, v reflect.Value) error {
	switch {
	case v.Type() == tensorType:
		// The zero bias and the like of ollama's nn structs have names too.
		t := be.Get(name)
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
			if err := bindStruct(be, path, fmt.Sprintf("%s.%d", name, i), v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return bindStruct(be, path, name, v.Elem())
	case v.Kind() == reflect.Struct:
		return bindStruct(be, path, name, v)
	}
	panic("inference: a tagged field must be a tensor, struct or slice: " + name)
}

func join(prefix, name string) string {
	if prefix == "" || name == "" {
		return prefix + name
	}
	return prefix + "." + name
}

// A shapeCheck compares tensors in a file with the sizes that its metadata
// claims, and keeps the first difference.
type shapeCheck struct {
	h   *header
	err error
}

// want demands a tensor of this shape, the row length first.
func (c *shapeCheck) want(name string, shape ...int) {
	if c.err == nil && c.h.tensors[name] == nil {
		c.err = fmt.Errorf("%s: tensor %s is missing", c.h.path, name)
	}
	c.optional(name, shape...)
}

// optional demands the shape of a tensor that may be missing.
func (c *shapeCheck) optional(name string, shape ...int) {
	t := c.h.tensors[name]
	if c.err != nil || t == nil {
		return
	}
	same := len(t.Shape) == len(shape)
	for i := range shape {
		same = same && t.Shape[i] == uint64(shape[i])
	}
	if !same {
		c.err = fmt.Errorf("%s: tensor %s has shape %v; the metadata asks for %v", c.h.path, name, t.Shape, shape)
	}
}
