package grammar

import "testing"

// The digests are Redis 8.4's: of its documentation, of the report that made it
// write leading zeros, and of DragonflyDB's documentation.
func TestDigest(t *testing.T) {
	for s, want := range map[string]string{
		"Hello world": "b6acb9d84a38ff74",
		"test":        "9ec9f7918d7dfc40",
		"hello":       "9555e8555c62dcfd",
		"v8lf0c11xh8ymlqztfd3eeq16kfn4sspw7fqmnuuq3k3t75em5wdizgcdw7uc26nnf961u2jkfzkjytls2kwlj7626sd": "00006c38adf31777",
	} {
		if got := Digest(s); got != want {
			t.Errorf("%.20q: %s, want %s", s, got, want)
		}
	}
}
