package gpus

import (
	"slices"
	"testing"

	"selfplay/inference/gpus/gpustest"
)

func TestSelect(t *testing.T) {
	devices := mustList(t, mustNew(t, gpustest.Box(4)))
	devices[3].UUID = "GPU-2233"
	unlike := slices.Clone(devices)
	unlike[1].Name = "NVIDIA L4"
	all := Visible{}
	shows := func(value string) Visible { return Visible{Set: true, Value: value} }
	for _, c := range []struct {
		devices []Device
		spec    string
		visible Visible
		want    string   // indices
		fault   []string // or in the error
	}{
		{devices, "all", all, "0, 1, 2, 3", nil},
		{devices, "", all, "0, 1, 2, 3", nil},
		{devices, "2,0", all, "0, 2", nil},
		{devices, " 1 , GPU-0000 ", all, "0, 1", nil},
		{devices, "GPU-223", all, "3", nil},
		{devices, "GPU-222", all, "2", nil},
		{devices, "all", shows("3,1"), "1, 3", nil},
		{devices, "all", shows("GPU-1111,GPU-2222"), "1, 2", nil},
		{devices, "all", shows("1,-1,2"), "1", nil},
		{devices, "1", shows("1,2"), "1", nil},
		{unlike, "all", Visible{Set: true, Value: "1", Order: "PCI_BUS_ID"}, "1", nil},
		{unlike, "all", shows("GPU-1111"), "1", nil},

		{devices, "4", all, "", []string{"--gpus 4: there is no GPU 4: there are 0, 1, 2, 3"}},
		{devices, "0,0", all, "", []string{`"0" names GPU 0 again`}},
		{devices, "0,GPU-0", all, "", []string{`"GPU-0" names GPU 0 again`}},
		{devices, "GPU-22", all, "", []string{`"GPU-22" is how the UUIDs of GPU 2 and GPU 3 begin`, "more"}},
		{devices, "GPU-9", all, "", []string{`begins with "GPU-9"`, "nvidia-smi -L"}},
		{devices, "GPU-", all, "", []string{`"GPU-" is neither`}},
		{devices, "0,,1", all, "", []string{`"" is neither a number nor a UUID`}},
		{devices, "-1", all, "", []string{`"-1" is neither`}},
		{devices, "all,0", all, "", []string{`"all" is neither`}},
		{devices, "1.5", all, "", []string{`"1.5" is neither`}},
		{devices, "99999999999999999999", all, "", []string{"is neither"}},
		{devices, "MIG-3", all, "", []string{"MIG instance"}},
		{devices, "0,2", shows("1,2"), "", []string{"--gpus 0,2", "CUDA_VISIBLE_DEVICES=1,2 hides GPU 0"}},
		{devices, "0", shows(""), "", []string{"hides GPU 0"}},
		{devices, "all", shows(""), "", []string{"CUDA_VISIBLE_DEVICES= hides all"}},
		{devices, "all", shows("-1"), "", []string{"hides all"}},
		{devices, "all", shows("NoDevFiles"), "", []string{"hides all"}},
		{devices, "all", shows("7"), "", []string{"CUDA_VISIBLE_DEVICES=7: there is no GPU 7"}},
		{devices, "all", shows("MIG-1"), "", []string{"CUDA_VISIBLE_DEVICES=MIG-1", "MIG instance"}},
		{unlike, "all", shows("1"), "", []string{"another order", "give UUIDs", "PCI_BUS_ID"}},
	} {
		got, err := Select(c.devices, c.spec, c.visible)
		if c.fault != nil {
			checkLine(t, err, c.fault...)
		} else if err != nil || list(got) != c.want {
			t.Errorf("%q of %+v: %v, %v; want %s", c.spec, c.visible, err, got, c.want)
		}
	}
}

func TestVisibleInEnv(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	t.Setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
	if v := VisibleInEnv(); !v.Set || v.Value != "" || v.Order != "PCI_BUS_ID" {
		t.Errorf("%+v", v)
	}
}

// Whatever is given, what is chosen is some of the devices, each once, in order.
func FuzzSelect(f *testing.F) {
	for _, s := range []string{"all", "0,1", "GPU-1", "GPU-1111,2", "-1", ",", "MIG-GPU-1", "0x1", "٣"} {
		f.Add(s, s, true)
		f.Add(s, "", false)
	}
	var devices []Device
	for i, id := range []string{"GPU-1111", "GPU-1122", "GPU-3"} {
		devices = append(devices, Device{Index: i, UUID: id})
	}
	f.Fuzz(func(t *testing.T, spec, value string, set bool) {
		got, err := Select(devices, spec, Visible{Set: set, Value: value})
		if (err == nil) != (len(got) > 0) {
			t.Errorf("%v, %v", err, got)
		}
		for i, d := range got {
			if indexOf(devices, d) < 0 || i > 0 && got[i-1].Index >= d.Index {
				t.Errorf("%v", got)
			}
		}
	})
}
