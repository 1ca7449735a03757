package users

import "strings"

// KeyRule returns the keys that the user may name, as Redis's ACL LIST writes them.
func (u *Account) KeyRule() string { return rule("~", u.all, u.keys) }

// ChannelRule returns the channels, written likewise.
func (u *Account) ChannelRule() string { return rule("&", u.all, u.channels) }

func rule(sign string, all bool, patterns []string) string {
	if all {
		return sign + "*"
	}
	words := make([]string, len(patterns))
	for i, p := range patterns {
		words[i] = sign + p
	}
	return strings.Join(words, " ")
}

// OperationRule returns the operations, written likewise.
func (u *Account) OperationRule() string {
	if u.all {
		return "+@all"
	}
	words := []string{"-@all"}
	for _, name := range u.operations.Names() {
		words = append(words, "+@"+name)
	}
	return strings.Join(words, " ")
}
