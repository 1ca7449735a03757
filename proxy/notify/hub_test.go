package notify

import (
	"slices"
	"testing"

	"github.com/redlockd/redlockd/internal/resp"
)

// inbox is a Subscriber that keeps its messages.
type inbox struct{ got []string }

func (b *inbox) Message(r resp.Reply, _ int) {
	text := ""
	for _, item := range r.Items {
		text += item.Text + " "
	}
	b.got = append(b.got, text)
}

// Each kind of subscription hears what is its own, and nobody after leaving.
func TestHubDelivers(t *testing.T) {
	h, a, b := NewHub(), &inbox{}, &inbox{}
	var all Subscriptions
	for kind, name := range map[int]string{Channel: "c", Pattern: "c*", Shard: "c"} {
		all.Add(kind, name)
		h.Join(a, kind, name)
	}
	h.Join(b, Channel, "c")
	if n := h.Publish(false, "c", "m"); n != 3 {
		t.Errorf("%d heard it, want 3", n)
	}
	if n := h.Publish(true, "c", "m"); n != 1 {
		t.Errorf("%d heard it of the shard, want 1", n)
	}
	if want := []string{"message c m ", "pmessage c* c m ", "smessage c m "}; !slices.Equal(a.got, want) {
		t.Errorf("got %q, want %q", a.got, want)
	}
	if h.Counts() != [Kinds]int{1, 1, 1} {
		t.Errorf("subscribed to %v names", h.Counts())
	}
	h.Leave(a, &all)
	h.Part(b, Channel, "c")
	if n := h.Publish(false, "c", "m"); n != 0 || h.Counts() != [Kinds]int{} {
		t.Errorf("%d heard it, %v are left", n, h.Counts())
	}
}

// The size of what a session is subscribed to is what it was before when all is over.
func TestSubscriptionsAreCounted(t *testing.T) {
	var s Subscriptions
	s.Add(Channel, "a")
	s.Add(Channel, "a")
	s.Add(Pattern, "a*")
	s.Add(Shard, "b")
	if s.Count() != 3 || s.Total(Channel) != 2 || s.Total(Shard) != 1 || s.Size() != Cost("a")+Cost("a*")+Cost("b") {
		t.Errorf("%d, %d and %d, of %d bytes", s.Count(), s.Total(Channel), s.Total(Shard), s.Size())
	}
	s.Drop(Channel, "a")
	s.Drop(Channel, "a")
	s.Drop(Pattern, "a*")
	s.Drop(Shard, "b")
	if s.Count() != 0 || s.Size() != 0 {
		t.Errorf("%d are left, of %d bytes", s.Count(), s.Size())
	}
}
