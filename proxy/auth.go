package proxy

import (
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
