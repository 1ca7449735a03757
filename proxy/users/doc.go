// Package users holds who may log in and what each user may do then: a User as the
// configuration has it (user.go), an Account as sessions use it (account.go) and as ACL
// LIST writes it (rules.go), and a limit on login attempts by address (limiter.go). It
// needs no session, and knows commands only by their operations.
package users
