package proxy

// chargeInput charges what the reading goroutine holds.
func (s *session) chargeInput() {
	bytes := s.frames.Memory() + s.subs.Size() + s.watchedBytes
	if s.multi != nil {
		bytes += s.multi.bytes
	}
	s.account.Charge(&s.charged, bytes)
}

// evict closes the sessions that hold most, until all hold less than
// max_memory. So who does not read its replies loses, and nobody else.
func (s *Server) evict() {
	defer s.memory.Evicted()
	for s.memory.Over() {
		var worst *session
		most := int64(0)
		for _, ses := range s.clients() {
			if n := ses.account.Bytes(); n > most {
				worst, most = ses, n
			}
		}
		if worst == nil {
			return
		}
		s.stats.Evicted.Add(1)
		if n, due := s.dropping.due(); due {
			s.log.Warn("sessions hold too much memory, closing the largest", "max_memory", s.memory.Most(), "bytes", most,
				"address", worst.remote(), "unreported", n)
		}
		worst.Kill()
	}
}
