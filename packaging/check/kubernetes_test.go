package check

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const kubernetes = "../kubernetes"

// objects are what the files hold, by kind and name.
type objects map[string]any

func object[T any](t *testing.T, all objects, name string) T {
	t.Helper()
	o, ok := all[name].(T)
	if !ok {
		t.Fatalf("no %s among %q", name, slices.Sorted(maps.Keys(all)))
	}
	return o
}

// load decodes every file by Kubernetes' own types; an unknown or misplaced
// field is an error.
func load(t *testing.T) objects {
	t.Helper()
	kinds := map[string]func() any{
		"ConfigMap": func() any { return &corev1.ConfigMap{} }, "Service": func() any { return &corev1.Service{} },
		"StatefulSet": func() any { return &appsv1.StatefulSet{} }, "Deployment": func() any { return &appsv1.Deployment{} },
		"PodDisruptionBudget": func() any { return &policyv1.PodDisruptionBudget{} },
		"NetworkPolicy":       func() any { return &networkingv1.NetworkPolicy{} },
		"Job":                 func() any { return &batchv1.Job{} },
	}
	all := objects{}
	for _, file := range append(resources(t), "bootstrap/job.yaml") {
		documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(read(t, filepath.Join(kubernetes, file)))))
		for {
			text, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			var head metav1.PartialObjectMetadata
			if err := yaml.Unmarshal(text, &head); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			make, ok := kinds[head.Kind]
			if !ok {
				t.Fatalf("%s: a %q, which this test does not know", file, head.Kind)
			}
			o := make()
			if err := yaml.UnmarshalStrict(text, o); err != nil {
				t.Errorf("%s: %s %s: %v", file, head.Kind, head.Name, err)
			}
			all[head.Kind+" "+head.Name+head.GenerateName] = o
		}
	}
	return all
}

// resources are the files of kustomization.yaml, which are all but the
// bootstrap: nothing may start that by itself.
func resources(t *testing.T) []string {
	t.Helper()
	var kustomization struct {
		APIVersion, Kind, Namespace string
		Resources                   []string
	}
	if err := yaml.UnmarshalStrict(read(t, filepath.Join(kubernetes, "kustomization.yaml")), &kustomization); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(kubernetes, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range files {
		if name := filepath.Base(f); name != "kustomization.yaml" {
			want = append(want, name)
		}
	}
	if !slices.Equal(kustomization.Resources, want) {
		t.Errorf("kustomization.yaml applies %q, want %q", kustomization.Resources, want)
	}
	return kustomization.Resources
}

// pods are the templates, by the name of what makes them.
func pods(t *testing.T, all objects) map[string]corev1.PodTemplateSpec {
	return map[string]corev1.PodTemplateSpec{
		"masters":   object[*appsv1.StatefulSet](t, all, "StatefulSet redlockd-master").Spec.Template,
		"redlockd":  object[*appsv1.Deployment](t, all, "Deployment redlockd").Spec.Template,
		"bootstrap": object[*batchv1.Job](t, all, "Job redlockd-bootstrap-").Spec.Template,
	}
}

// TestKubernetesConfig: the file is right, with the Secret's variables, and
// names the masters as the StatefulSet's pods are called.
func TestKubernetesConfig(t *testing.T) {
	all := load(t)
	text := object[*corev1.ConfigMap](t, all, "ConfigMap redlockd").Data["config.hcl"]
	var env []string
	for _, name := range []string{"REDLOCKD_PASSWORD", "REDLOCKD_ADMIN_PASSWORD", "MASTER_PASSWORD"} {
		env = append(env, name+"=secret")
		if !strings.Contains(string(read(t, filepath.Join(kubernetes, "kustomization.yaml"))), "--from-literal="+name+"=") {
			t.Errorf("nobody makes %s", name)
		}
	}
	checkConfig(t, text, env)
	masters := object[*appsv1.StatefulSet](t, all, "StatefulSet redlockd-master")
	port := object[*corev1.Service](t, all, "Service "+masters.Spec.ServiceName).Spec.Ports[0].Port
	for i := range *masters.Spec.Replicas {
		address := fmt.Sprintf("%q", fmt.Sprintf("%s-%d.%s:%d", masters.Name, i, masters.Spec.ServiceName, port))
		if strings.Count(text, address) != 1 {
			t.Errorf("the configuration does not name %s once", address)
		}
	}
	if got := strings.Count(text, "\nmaster "); got != int(*masters.Spec.Replicas) {
		t.Errorf("%d masters are named, %d run", got, *masters.Spec.Replicas)
	}
	for name, pod := range pods(t, all) {
		if name != "masters" && pod.Spec.Volumes[0].ConfigMap.Name != "redlockd" {
			t.Errorf("%s mounts %q", name, pod.Spec.Volumes[0].ConfigMap.Name)
		}
	}
}

// TestKubernetesSelectors: a selector that matches nothing, or too much, is
// no error for Kubernetes.
func TestKubernetesSelectors(t *testing.T) {
	all := load(t)
	budget := func(name string) *metav1.LabelSelector {
		return object[*policyv1.PodDisruptionBudget](t, all, "PodDisruptionBudget "+name).Spec.Selector
	}
	service := func(name string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: object[*corev1.Service](t, all, "Service "+name).Spec.Selector}
	}
	policy := object[*networkingv1.NetworkPolicy](t, all, "NetworkPolicy redlockd-master").Spec
	template := pods(t, all)
	for _, test := range []struct {
		name     string
		selector *metav1.LabelSelector
		want     []string
	}{
		{"StatefulSet", object[*appsv1.StatefulSet](t, all, "StatefulSet redlockd-master").Spec.Selector, []string{"masters"}},
		{"Deployment", object[*appsv1.Deployment](t, all, "Deployment redlockd").Spec.Selector, []string{"redlockd"}},
		{"budget of the masters", budget("redlockd-master"), []string{"masters"}},
		{"budget of redlockd", budget("redlockd"), []string{"redlockd"}},
		{"service of the masters", service("redlockd-master"), []string{"masters"}},
		{"service of redlockd", service("redlockd"), []string{"redlockd"}},
		{"policy", &policy.PodSelector, []string{"masters"}},
		{"policy's guests", policy.Ingress[0].From[0].PodSelector, []string{"bootstrap", "redlockd"}},
		{"masters apart", template["masters"].Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector, []string{"masters"}},
		{"masters over zones", template["masters"].Spec.TopologySpreadConstraints[0].LabelSelector, []string{"masters"}},
	} {
		selector, err := metav1.LabelSelectorAsSelector(test.selector)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		var got []string
		for name, pod := range template {
			if selector.Matches(labels.Set(pod.Labels)) {
				got = append(got, name)
			}
		}
		if slices.Sort(got); !slices.Equal(got, test.want) {
			t.Errorf("%s chooses %q, want %q", test.name, got, test.want)
		}
	}
}

// TestKubernetesPods: probes ask ports that are there, and nothing runs as
// root or may become it.
func TestKubernetesPods(t *testing.T) {
	all := load(t)
	for name, pod := range pods(t, all) {
		if s := pod.Spec.SecurityContext; !*s.RunAsNonRoot || *s.RunAsUser == 0 || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: %+v", name, s)
		}
		for _, c := range pod.Spec.Containers {
			if s := c.SecurityContext; *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
				t.Errorf("%s: %+v", name, s)
			}
			if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
				t.Errorf("%s has no resources", name)
			}
			for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe} {
				if probe != nil && probe.HTTPGet != nil && !hasPort(c, probe.HTTPGet.Port) {
					t.Errorf("%s: a probe asks the port %s", name, probe.HTTPGet.Port.String())
				}
			}
		}
	}
	template := pods(t, all)
	c := template["redlockd"].Spec.Containers[0]
	if c.LivenessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Errorf("probes ask %s and %s", c.LivenessProbe.HTTPGet.Path, c.ReadinessProbe.HTTPGet.Path)
	}
	if r := c.ReadinessProbe; r.PeriodSeconds*r.FailureThreshold > 2 {
		t.Errorf("a redlockd that is not ready gets clients for %d s", r.PeriodSeconds*r.FailureThreshold)
	}
	if s := object[*corev1.Service](t, all, "Service redlockd"); s.Spec.SessionAffinity != corev1.ServiceAffinityClientIP {
		t.Error("the connections of one client lead to several redlockd")
	}
	for _, name := range []string{"redlockd", "redlockd-master"} {
		s := object[*corev1.Service](t, all, "Service "+name)
		if name == "redlockd" && !hasPort(c, s.Spec.Ports[0].TargetPort) || name != "redlockd" && !hasPort(template["masters"].Spec.Containers[0], s.Spec.Ports[0].TargetPort) {
			t.Errorf("%s sends to the port %s", name, s.Spec.Ports[0].TargetPort.String())
		}
	}
}

func hasPort(c corev1.Container, port intstr.IntOrString) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == port.StrVal })
}
