package commands

// markKey is redlockd's own hidden key on every master (M3).
const markKey = "redlockd:mark"
