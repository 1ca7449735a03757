package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// undecided is that redlockd could not tell.
func (j *keyJudge) undecided(c *call) (out []cause) {
	if t := j.w.standing(c.redlockd, c.sent, c.got); t != nil && (t.to == forever || c.sent < t.to+recently) {
		out = append(out, cause{still, t.String()})
	}
	if strings.Contains(c.value, "grants nothing for") {
		out = append(out, j.silence(c)...)
	}
	for _, s := range j.w.stood {
		if s.from < c.got && c.sent < s.to+s.after() {
			out = append(out, cause{machine, fmt.Sprintf("from %.3fs to %.3fs", s.from.Seconds(), s.to.Seconds())})
		}
	}
	// One that was not asked, and could be by the time of the answer, has just left its quarantine.
	says := strings.Contains(c.value, " quarantine") || strings.Contains(c.value, " new") || strings.Contains(c.value, " not asked")
	silent, cut, why := j.w.lately(c.redlockd, c.sent, c.got, says)
	reasons := make([]string, 0, len(why))
	for _, t := range why {
		reasons = append(reasons, t.String())
	}
	text := fmt.Sprintf("masters %v: %s", silent, strings.Join(reasons, "; "))
	creates := c.kind == acquire || c.kind == renew
	tooMany := func(n int) bool { return n > j.masters-(j.masters/2+1) || j.required && n > 0 }
	switch {
	case tooMany(len(cut)):
		out = append(out, cause{away, text})
	case tooMany(len(silent)):
		out = append(out, cause{waiting, text})
	}
	for _, o := range j.calls {
		if o != c && o.kind != read && o.sent < c.got && c.sent < j.overOf(o)+timeout {
			out = append(out, cause{crowd, o.name()})
		}
	}
	for _, t := range j.takings {
		// Nothing undoes it, so its copies may be on a minority until its hold is over.
		if t.call != c && t.replaces && t.answer == unknown && t.sent < c.got && c.sent < min(t.until, t.gone) {
			out = append(out, cause{tried, t.name()})
		}
	}
	if len(silent) == 0 {
		return out
	}
	// A lock may be on a bare majority, or copies on a minority.
	if !creates {
		return append(out, cause{copies, text})
	}
	for _, t := range j.takings {
		if t.call != c && t.sent < c.got && c.sent <= t.until+j.w.wentBack(t.sent, c.got) {
			out = append(out, cause{copies, t.name() + " beside " + text})
		}
	}
	return out
}

func (j *keyJudge) overOf(c *call) time.Duration {
	if c.answer == unknown && !isNoQuorum(c) {
		return max(c.got, j.w.heard(c.redlockd, c.sent))
	}
	return c.got
}

// considered are the calls that could have been causes, with what is known of
// them: those of the token in question first.
func (j *keyJudge) considered(c *call) string {
	var out strings.Builder
	token := c.token
	if c.kind == read {
		token = c.value
	}
	takings := slices.DeleteFunc(slices.Clone(j.takings), func(t *taking) bool { return t.token != token })
	for _, t := range append(takings, slices.DeleteFunc(slices.Clone(j.takings), func(t *taking) bool { return t.token == token })...) {
		if t.call == c || t.sent >= c.got || c.sent-t.until > 5*time.Second {
			continue
		}
		fmt.Fprintf(&out, "  %s: done with at %.3fs, certain until %.3fs, hold ends %.3fs", t.name(), t.over.Seconds(), t.certain.Seconds(), t.until.Seconds())
		if t.gone != forever {
			fmt.Fprintf(&out, ", gone at %.3fs: %s", t.gone.Seconds(), t.goneBy)
		}
		out.WriteByte('\n')
	}
	for _, t := range j.w.troubles {
		if t.shows(c.sent-5*time.Second, c.got) {
			fmt.Fprintf(&out, "  %v\n", t)
		}
	}
	if out.Len() == 0 {
		return "  nothing: no call and no fault that could explain it\n"
	}
	return out.String()
}
