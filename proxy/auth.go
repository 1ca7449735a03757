package proxy

import (
	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/users"
)

var (
	errWrongPass  = resp.Error("WRONGPASS invalid username-password pair or user is disabled.")
	errNoPassword = resp.Error("ERR AUTH <password> called without any password configured for the default user. " +
		"Are you sure your configuration is correct?")
)

// authCommand is AUTH password and AUTH user password.
func authCommand(s *session, args [][]byte) resp.Reply {
	name, password := []byte(users.Default), args[1]
	switch {
	case len(args) > 3:
		return errSyntax
	case len(args) == 3:
		name, password = args[1], args[2]
	case s.logins.users.Open() != nil:
		return errNoPassword
	}
	if !s.login(name, password) {
		return errWrongPass
	}
	return resp.OK
}

var (
	errHelloVersion = resp.Error("ERR Protocol version is not an integer or out of range")
	errNoProto      = resp.Error("NOPROTO unsupported protocol version")
	errHelloLogin   = resp.Error("NOAUTH HELLO must be called with the client already authenticated, otherwise the " +
		"HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version " +
		"at the same time")
	errClientName = resp.Error("ERR Client names cannot contain spaces, newlines or special characters.")
)

// helloCommand is HELLO [2|3 [AUTH user password] [SETNAME name]]. If any argument is
// wrong nothing is changed, except that a login stays, as in Redis.
func helloCommand(s *session, args [][]byte) resp.Reply {
	proto := s.protocol()
	if len(args) > 1 {
		n, ok := resp.ParseInt(args[1])
		switch {
		case !ok:
			return errHelloVersion
		case n != 2 && n != 3:
			return errNoProto
		}
		proto = int(n)
	}
	var who, password, name []byte
	for i := 2; i < len(args); i++ {
		switch more := len(args) - i - 1; {
		case grammar.Is(args[i], "auth") && more >= 2:
			who, password = args[i+1], args[i+2]
			i += 2
		case grammar.Is(args[i], "setname") && more >= 1:
			name = args[i+1]
			if !resp.Printable(name) || len(name) > maxName {
				return errClientName
			}
			i++
		default:
			return resp.Error("ERR Syntax error in HELLO option '" + resp.Clean(args[i], 128) + "'")
		}
	}
	if who != nil && !s.login(who, password) {
		return errWrongPass
	}
	if s.user == nil {
		return errHelloLogin
	}
	if name != nil {
		s.rename(string(name))
	}
	s.proto.Store(int32(proto))
	return greeting(s)
}

// greeting returns HELLO's reply; it describes a master without replicas.
func greeting(s *session) resp.Reply {
	return resp.Reply{Kind: resp.KindMap, Items: []resp.Reply{
		resp.Bulk("server"), resp.Bulk("redis"),
		resp.Bulk("version"), resp.Bulk(RedisVersion),
		resp.Bulk("proto"), resp.Int(int64(s.protocol())),
		resp.Bulk("id"), resp.Int(s.id),
		resp.Bulk("mode"), resp.Bulk("standalone"),
		resp.Bulk("role"), resp.Bulk("master"),
		resp.Bulk("modules"), resp.Array(),
	}}
}
