// Package users knows who may log in and what each may do then: a User as the
// configuration has it (user.go), an Account as sessions look at it (account.go) and
// as ACL LIST writes it (rules.go), and how often an address may try passwords
// (limiter.go). It knows no session, and no command but by its operation.
package users
