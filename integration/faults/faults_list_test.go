package faults

// kind is one kind of fault. prepare draws what it needs and takes it, or
// returns nil where that is not free; what it returns runs the fault.
type kind struct {
	name    string
	weight  int
	prepare func(s *schedule) func()
}

func kinds() []kind {
	return []kind{
		{"empty restart", 1, oneLoss("empty restart")},
		{"flushall", 1, oneLoss("flushall")},
		{"promotion", 1, oneLoss("promotion")},
		{"eviction", 1, oneLoss("eviction")},
		{"old disk", 1, oneLoss("old disk")},
		{"clock step", 1, oneLoss("clock step")},
		{"clock fast", 1, oneLoss("clock fast")},
		{"aof restart", 2, aofRestart},
		{"disk full, ends", 1, diskFull("always")},
		{"disk full, refuses", 2, diskFull("everysec")},
		{"memory full", 2, memoryFull},
		{"freeze master", 6, freezeMaster},
		{"freeze redlockd", 5, freezeRedlockd},
		{"kill redlockd", 2, killRedlockd},
		{"slow", 4, linkFault("slow")},
		{"stall", 4, linkFault("stall")},
		{"cut", 4, linkFault("cut")},
		{"drop", 4, linkFault("drop")},
		{"script flush", 3, harmless("SCRIPT", "FLUSH")},
		{"client kill", 3, harmless("CLIENT", "KILL", "TYPE", "normal")},
	}
}

// whole are the faults that need all masters, and so come in turns of their
// own.
func whole() []kind {
	return []kind{
		{"ambush", 10, ambush},
		{"majority frozen", 3, majorityFrozen},
		{"majority restart", 1, majorityRestart},
		{"replace master", 2, replaceMaster},
		{"one way", 3, oneWay},
		{"majority of disks", 3, majorityOfDisks},
	}
}
