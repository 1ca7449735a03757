package cluster

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

func TestNewsOf(t *testing.T) {
	waits := mark.Judgement{State: mark.Quarantine, Reason: "restarted", Left: time.Minute}
	other := mark.Judgement{State: mark.Quarantine, Reason: "restarted; " + mark.WhyOtherServer, Left: time.Minute}
	down := mark.Judgement{State: mark.Down, Reason: "EOF"}
	warm := mark.Judgement{State: mark.Quarantine, Reason: mark.WhyWarmingUp, Left: time.Second}
	tests := []struct {
		name     string
		was      mark.State
		why      string
		is       mark.Judgement
		corrects bool
		want     news
	}{
		{"never reached", mark.Down, notReached, down, false, newsDown},
		{"still down", mark.Down, "EOF", down, false, noNews},
		{"still down, another error", mark.Down, "connection refused", down, false, newsDetail},
		{"still down, as it says itself", mark.Down, "EOF", mark.Judgement{State: mark.Down, Reason: "WRONGPASS", ByMaster: true}, false, newsDown},
		{"lost", mark.Voting, "", down, false, newsDown},
		{"lost while it waited", mark.Quarantine, "restarted", down, true, newsDown},
		{"votes", mark.Quarantine, "restarted", mark.Judgement{State: mark.Voting}, true, newsVotes},
		{"still votes", mark.Voting, "", mark.Judgement{State: mark.Voting}, true, noNews},
		{"waits", mark.Down, "EOF", waits, false, newsWaits},
		{"still waits", mark.Quarantine, "restarted", waits, false, noNews},
		{"waits for another time", mark.Quarantine, "restarted", waits, true, newsWaits},
		{"waits for another reason", mark.Quarantine, "new", waits, false, newsDetail},
		{"another server in use", mark.Quarantine, "restarted", other, false, newsWaits},
		{"warms up", mark.Down, "EOF", warm, false, newsWarmUp},
		{"still warms up", mark.Quarantine, mark.WhyWarmingUp, warm, true, noNews},
		{"waits after it has warmed up", mark.Quarantine, mark.WhyWarmingUp, waits, false, newsWaits},
	}
	for _, test := range tests {
		if got := newsOf(test.was, test.why, test.is, test.corrects); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

func TestWaitIsCorrected(t *testing.T) {
	tests := []struct {
		name        string
		told        time.Duration
		after, left time.Duration
		want        bool
	}{
		{"counts down", time.Hour, 10 * time.Minute, 50 * time.Minute, false},
		{"stands still", time.Hour, 10 * time.Minute, time.Hour, false},
		{"stands still for a day", time.Hour, 24 * time.Hour, time.Hour, false},
		{"over and not yet done", time.Minute, 2 * time.Minute, 0, false},
		{"is known", 24 * time.Hour, time.Second, 6 * time.Minute, true},
		{"a little shorter", time.Hour, time.Minute, 55 * time.Minute, false},
		{"a tenth shorter", time.Hour, time.Minute, 52 * time.Minute, true},
		{"a little shorter of little", 20 * time.Second, time.Second, 15 * time.Second, false},
		{"much shorter of little", 20 * time.Second, time.Second, 12 * time.Second, true},
		{"begins anew", time.Minute, 50 * time.Second, time.Minute, false},
		{"longer", time.Minute, 20 * time.Second, 2 * time.Minute, true},
		{"longer for a moment", time.Minute, 9 * time.Second, 24 * time.Hour, false},
		{"was not known", 0, 10 * time.Second, time.Minute, true},
	}
	for _, test := range tests {
		at := 7 * time.Second
		if got := (toldWait{left: test.told, at: at}).corrected(test.left, at+test.after); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
