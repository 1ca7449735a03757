package mark

import (
	"maps"
	"slices"
)

// Seat is which server votes as one master (M9). Two servers may answer under one name,
// for instance while the master moves to another address; only one of them has the seat,
// and the marks of the other masters record which. A server takes the seat with a new
// epoch, written to so many of them that every majority includes one; earlier epochs no
// longer count.
type Seat struct {
	// Epoch counts the servers that have had the seat, from firstEpoch.
	Epoch int64 `json:"e"`
	// Server is the id of the server's mark, or Vacant.
	Server string `json:"s"`
	// Beat is the highest beat that this mark was seen to have (M4).
	Beat int64 `json:"b,omitempty"`
}

// firstEpoch returns the epoch of the first server of a seat. A redlockd that was cut off for
// long may remember a seat that no mark records any more, and whose epoch must be less. So it
// is the time, by the master's clock (reading, in milliseconds): all marks may have been lost,
// and the numbers of lists begun anew. As a clock may be wrong, it is greater than those of all
// seats that are known, and by more where the latest list that any mark records has a greater
// number: a master that left the list (Agreement.forgetSeats) may join again.
func firstEpoch(known int64, number int, reading int64) int64 {
	begins := max(0, reading/tick) * tick * 10
	return max(known, begins) + int64(max(0, number-1))*perList + 1
}

// Epochs begin at the time in tenths of a millisecond, rounded down to a tick (in milliseconds),
// so that several instances begin a seat at one epoch. perList is added for each change of the
// list.
const (
	tick    = 10_000
	perList = 100 * renewal
)

// Vacant is the Server of a seat that was taken from a server that may not vote any more,
// but whose own mark could not be written.
const Vacant = "-"

// Less reports whether other is a later server in the seat.
func (s Seat) Less(other Seat) bool {
	return s.Epoch < other.Epoch || s.Epoch == other.Epoch && s.Server < other.Server
}

// Same reports whether both are the same server in the seat.
func (s Seat) Same(other Seat) bool { return s.Epoch == other.Epoch && s.Server == other.Server }

// Seats are the seats of all masters, by the hashes of their names.
type Seats map[string]Seat

// on returns the seats of the masters on a list.
func (t Seats) on(list string) Seats {
	out, hashes := maps.Clone(t), Hashes(list)
	maps.DeleteFunc(out, func(name string, _ Seat) bool { return !slices.Contains(hashes, name) })
	return out
}

// behind reports whether other is later, or has a higher beat.
func (s Seat) behind(other Seat) bool {
	return s.Less(other) || s.Same(other) && s.Beat < other.Beat
}

// raise takes over one seat if it is later, or has a higher beat.
func (t Seats) raise(name string, other Seat) {
	if t[name].behind(other) {
		t[name] = other
	}
}

// Behind reports whether other has a later server in any seat.
func (t Seats) Behind(other Seats) bool {
	for name, s := range other {
		if t[name].Less(s) {
			return true
		}
	}
	return false
}

// beats returns t with the higher beats of other, where the server is the same.
func (t Seats) beats(other Seats) Seats {
	out := maps.Clone(t)
	for name, s := range other {
		if t[name].Same(s) {
			out.raise(name, s)
		}
	}
	return out
}

// renewal is added to the epoch of a seat whose latest server may be forgotten: more
// servers than that never took it unseen.
const renewal = 1_000_000

// renewed returns t with seats that are later than any that may have been forgotten; first is
// the epoch with which a seat would begin now.
func (t Seats) renewed(names []string, first int64) Seats {
	out := maps.Clone(t)
	for _, name := range names {
		if s := out[name]; s.Epoch > 0 {
			s.Epoch = max(s.Epoch, first) + renewal
			out[name] = s
		}
	}
	return out
}

// overdue returns the seats of other whose beat is two or more ahead of t.
func (t Seats) overdue(other Seats) Seats {
	out := maps.Clone(other)
	maps.DeleteFunc(out, func(name string, s Seat) bool { return s.Beat-t[name].Beat < 2 })
	return out
}

// Merged returns the later of both for each seat.
func (t Seats) Merged(other Seats) Seats {
	out := maps.Clone(t)
	if out == nil {
		out = Seats{}
	}
	for name, s := range other {
		out.raise(name, s)
	}
	return out
}
