package main

import "strings"

// expectation is what the search of a case must come to.
type expectation string

const (
	holds     expectation = "holds"
	second    expectation = "second holder"
	comesBack expectation = "a released lock is back"
	early     expectation = "told too early"
	late      expectation = "told too late"
)

// asserted is what it means that the assertion on this variable is violated.
var asserted = map[string]expectation{"second_holder": second, "taken": second, "is_back": comesBack, "told_early": early, "told_late": late}

// modelCase is a world and what is left out of the rules in it.
type modelCase struct {
	name string
	// world and without are switches of the model.
	world, without string
	want           expectation
}

// from is the file that has the case's model: beat.pml where a disk has an age.
func (c *modelCase) from() string {
	if strings.HasPrefix(c.world, "AGE=") {
		return "beat.pml"
	}
	return "lock.pml"
}

// Worlds: how many operations each redlockd has, and what happens meanwhile.
const (
	restart  = "OPS0=2 OPS1=1 LOSSES=1"
	all      = "OPS0=2 OPS1=1 LOSSES=1 AOE EXTEND RELEASE"
	long     = "OPS0=2 OPS1=1 LOSSES=1 TTL=2"
	flush    = "OPS0=1 OPS1=2 FLUSHES=1 AOE"
	prolong  = "OPS0=2 OPS1=1 AOE"
	extends  = "OPS0=3 OPS1=1 LOSSES=1 EXTEND ONCE"
	extends4 = "OPS0=4 OPS1=1 LOSSES=1 EXTEND ONCE"
	releases = "OPS0=3 OPS1=1 RELEASE CUTS=1"
	renewed  = "OPS0=2 OPS1=1 LOSSES=1 RENEW"
	healing  = "OPS0=3 OPS1=0 EXTEND RELEASE RELEASED"
	healing4 = "OPS0=4 OPS1=0 AOE EXTEND RELEASE RELEASED CUTS=1"
	// A loss without the end of connections, and extends.
	lateAcquire = "OPS0=2 OPS1=1 FLUSHES=1 EXTEND ONCE"
	equal       = "OPS0=2 OPS1=2 EQUAL"
	// One client at two redlockd, and another client at a third.
	elsewhere        = "OPS0=1 OPS1=1 OPS2=1 ELSEWHERE"
	elsewhereProlong = elsewhere + " AOE"
	elsewhereExtend  = elsewhere + " EXTEND"
	elsewhereRenew   = elsewhere + " RENEW"
	// The client releases at the first one, which may not reach a master, and
	// then takes the lock at the second.
	repeated = "OPS0=2 OPS1=1 OPS2=1 ELSEWHERE IN_TURN ONCE AOE RELEASE CUTS=1"
	// A clock is ahead by what cannot be seen, and what could act on it.
	ahead        = "OPS0=1 OPS1=1 STEPS=1"
	aheadExtend  = "OPS0=2 OPS1=1 STEPS=1 EXTEND ONCE"
	aheadProlong = "OPS0=2 OPS1=1 STEPS=1 AOE ONCE"
	aheadAll     = "OPS0=2 OPS1=1 STEPS=1 AOE EXTEND RELEASE"
	behind       = "OPS0=2 OPS1=1 SLOWS=1 EXTEND RELEASE"
	// What one client is told, at one redlockd or at two.
	told      = "OPS0=2 OPS1=0 EXTEND RELEASE ONCE HONEST"
	told3     = "OPS0=3 OPS1=0 EXTEND ONCE HONEST"
	toldAll   = "OPS0=2 OPS1=1 ELSEWHERE AOE EXTEND RELEASE HONEST"
	toldRenew = "OPS0=1 OPS1=1 ELSEWHERE RENEW EXTEND RELEASE HONEST"
	toldTwice = "OPS0=1 OPS1=2 ELSEWHERE AOE EXTEND ONCE HONEST"
	toldAhead = "OPS0=2 OPS1=1 ELSEWHERE EXTEND RELEASE ONCE HONEST STEPS=1 TTL=2"
	toldSteps = "OPS0=3 OPS1=0 EXTEND RELEASE ONCE HONEST STEPS=3 TTL=2"
	toldSlow  = "OPS0=2 OPS1=1 ELSEWHERE EXTEND RELEASE ONCE HONEST SLOWS=1"
	// It asks for more at the second one, though for a shorter TTL, with less drift.
	toldLess = "OPS0=1 OPS1=2 ELSEWHERE EXTEND ONCE IN_TURN HONEST TTL=3 TTL1=1"
	toldBare = "OPS0=1 OPS1=0 RELEASE ONCE HONEST BARE"
)

// Worlds of beat.pml: how old the disk is, in half seconds, and whether R1,
// which saw what it lacks, is there to say so.
const (
	witness = "AGE=4"
	unlined = "AGE=4 CUT_AFTER"
	gone    = "AGE=6 STILLS=1 FOR_GOOD"
	goneCut = "AGE=6 STILLS=1 FOR_GOOD CUT"
	dark    = "AGE=6 STILLS=1 FOR_GOOD DARK"
	still   = "AGE=8 STILLS=1 LAST"
)

var cases = []modelCase{
	// The rules in.
	{"restart", restart, "", holds},
	{"all operations", all, "", holds},
	{"longer times", long, "", holds},
	{"renewed before it is told", renewed, "", holds},
	{"flush", flush, "", holds},
	{"extends", extends4, "", holds},
	{"releases", releases, "", holds},
	{"released stays released", healing4, "", holds},
	{"equal tokens", equal, "", holds},
	{"prolonged elsewhere", elsewhereProlong, "", holds},
	{"extended elsewhere", elsewhereExtend, "", holds},
	{"renewed beside elsewhere", elsewhereRenew, "", holds},
	{"release repeated", repeated, "", holds},
	{"flush and late acquire", lateAcquire, "", holds},
	{"clock ahead", aheadAll, "", holds},
	{"flush and a clock ahead", lateAcquire + " STEPS=1", "", holds},
	{"clock behind", behind, "", holds},
	{"told when it is over", toldAll, "", holds},
	{"told after a renewal", toldRenew, "", holds},
	{"told by a clock ahead", toldAhead, "", holds},
	{"told by three clocks ahead", toldSteps, "", holds},
	{"told by a clock behind", toldSlow, "", holds},
	{"told with different drifts", toldLess, "", holds},
	{"told of a bare copy", toldBare, "", holds},
	{"older disk", witness, "", holds},
	{"older disk by marks only", unlined, "", holds},
	{"older disk and nobody left", gone, "", holds},
	{"older disk and a cut line", goneCut, "", holds},
	{"older disk in the dark", dark, "", holds},
	{"older disk and a pause", still, "", holds},

	// One left out.
	{"V2 no time on acquires", "OPS0=1", "NO_TIME_ACQUIRE", second},
	{"V2 no time on extends", "OPS0=2 EXTEND ONCE", "NO_TIME_EXTEND", second},
	{"V2 no look before the reply", "OPS0=1", "NO_LOOK", second},
	{"V3 no padding", "OPS0=1", "NO_PADDING", second},
	{"V2 renewal by token", elsewhereRenew, "RENEW_BY_TOKEN", second},
	{"V6 one id for two tries", "OPS0=2 OPS1=1", "SAME_IDS", second},
	{"V6 one id elsewhere", elsewhere, "SAME_IDS", second},
	{"V6 prolonged keeps its attempt", elsewhereProlong, "KEEP_ATTEMPT", second},
	{"V6 extended keeps its attempt", elsewhereExtend, "KEEP_ATTEMPT", second},
	{"V6 rollback by attempt", prolong, "ROLLBACK_BY_ATTEMPT", second},
	{"V6 rollback by lock", elsewhereProlong, "ROLLBACK_BY_LOCK", second},
	{"V6 rollback by token", equal, "ROLLBACK_BY_TOKEN", second},
	{"V6 by token elsewhere", elsewhere, "ROLLBACK_BY_TOKEN", second},
	{"V8 release repeated by lock", repeated, "REPEAT_BY_LOCK", second},
	{"V8 release repeated by token", repeated, "REPEAT_BY_TOKEN", second},
	{"V9 healed copies vote", extends, "HEAL_VOTES COPIES_VOTE", second},
	{"V9 heal without majority", extends4, "HEAL_ALWAYS COPIES_VOTE NO_OVER", second},
	{"V9 heal on a late answer", healing, "HEAL_LATE", comesBack},
	{"V9 heal of any lock", healing4, "HEAL_ANY_LOCK", comesBack},
	{"M3 no mark", "OPS0=1 FLUSHES=1", "NO_MARK", second},
	{"M3 no fence", "OPS0=3 OPS1=1 RELEASE", "NO_FENCE", second},
	{"M4 no quarantine", "OPS0=1 LOSSES=1", "NO_QUARANTINE", second},
	{"M4 short quarantine", "OPS0=1 LOSSES=1", "SHORT_QUARANTINE", second},
	{"M4 copies vote in an extend", lateAcquire, "COPIES_VOTE NO_OVER", second},
	{"M4 acquires in quarantine", "OPS0=1 OPS1=2 LOSSES=1 AOE", "NO_SHUT COPIES_VOTE", second},
	{"M4 exempt by own memory", witness, "OWN_MEMORY", second},
	{"M4 no wait for others", witness, "NO_WAIT", second},
	{"M4 no wait by marks only", unlined, "NO_WAIT", second},
	{"M4 beat never raised", witness, "NO_BEAT", second},
	{"M4 beat told to nobody", gone, "NO_TELL", second},
	{"M4 beat told by marks only", unlined, "NO_TELL", second},
	{"M4 new beats told late", goneCut, "NO_LAG", second},
	{"M4 others not looked at", dark, "NO_OTHERS", second},

	{"V15 over when it expires", told, "NO_OVER", late},
	{"V15 over at its end", told, "NO_GRACE", early},
	{"V15 over by one copy", told3, "OVER_BY_ONE", early},
	{"V15 prolonged keeps its end", told3, "OVER_OF_OLD", early},
	{"V15 prolonged to an earlier end", toldTwice, "OVER_OF_NEW", early},
	{"V15 end of the later expiry", toldLess, "OVER_OF_EXPIRY", early},
	{"V15 bare copies have an end", toldBare, "OVER_BARE", early},
	{"V15 masters delete what is over", ahead, "DELETE_OVER", second},
	{"V15 extends delete what is over", aheadExtend, "EXTEND_DELETES", second},
	{"V15 what is over is retaken", aheadProlong, "RETAKE_OVER", second},

	// The bound of the promise, and what is not promised.
	{"unseen loss of one copy in 3", "OPS0=1 UNSEEN=1 FULL", "", holds},
	{"unseen loss of one copy in 2", "OPS0=1 UNSEEN=1", "", second},
	{"told early by a step", told + " STEPS=2", "EXACT", early},
	{"told late by a step", told + " SLOWS=1", "EXACT", late},
	{"disk of 1.5 s", "AGE=3", "", second},
	{"disk of 2.5 s and nobody left", "AGE=5 STILLS=1 FOR_GOOD", "", second},
	{"disk of 3.5 s and a pause", "AGE=7 STILLS=1 LAST", "", second},
	{"disk of 4 s and two pauses", "AGE=8 STILLS=2 LAST", "", second},
	{"disk of 10 s and nobody ran", "AGE=20 STILLS=1", "", second},
	{"equal tokens and releases", "OPS0=3 EQUAL RELEASE", "", second},
}
