package zookeeper

import (
	"crypto/sha1"
	"encoding/base64"
	"slices"
	"strings"
)

// The permissions that an entry of an access control list (ACL) can give, as in ZooDefs.Perms of
// the real server.
const (
	permRead   = 1
	permWrite  = 2
	permCreate = 4
	permDelete = 8
	permAdmin  = 16
	permAll    = 31
)

// anyone is the identity that every client has. openACL is the ACL that gives every client
// all permissions.
var (
	anyone  = ident{"world", "anyone"}
	openACL = []permit{{permAll, anyone}}
)

// allows reports whether an ACL gives a permission to a client with the identities who.
func allows(acl []permit, perm int32, who []ident) bool {
	for _, p := range acl {
		if p.perms&perm != 0 && (p.ident == anyone || slices.Contains(who, p.ident)) {
			return true
		}
	}
	return false
}

// normalizeACL returns an ACL in the form in which it is stored: the scheme "auth" is replaced by
// all identities of the client. isValid is false if the ACL is invalid. See
// PrepRequestProcessor.fixupACL of the real server. A simulated client has no IP address, so an
// entry for an address gives permissions to no client.
func normalizeACL(acl []permit, who []ident) (all []permit, isValid bool) {
	add := func(p permit) {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	for _, p := range acl {
		switch {
		case p.ident == anyone:
			add(p)
		case p.scheme == "auth":
			for _, w := range who {
				add(permit{p.perms, w})
			}
			if len(who) == 0 {
				return nil, false
			}
		case p.scheme == "digest" && strings.Count(p.id, ":") == 1:
			add(p)
		case p.scheme == "ip" && p.id != "":
			add(p)
		default:
			return nil, false
		}
	}
	return all, len(all) > 0
}

// digest returns the identity that a client proves by sending "user:password", as
// DigestAuthenticationProvider of the real server computes it.
func digest(secret []byte) ident {
	user, _, _ := strings.Cut(string(secret), ":")
	sum := sha1.Sum(secret)
	return ident{"digest", user + ":" + base64.StdEncoding.EncodeToString(sum[:])}
}

// redacted returns an ACL without the digests of passwords. A client that may not change
// the ACL sees only this.
func redacted(acl []permit) []permit {
	all := slices.Clone(acl)
	for i, p := range all {
		if p.scheme == "digest" {
			user, _, _ := strings.Cut(p.id, ":")
			all[i].id = user + ":x"
		}
	}
	return all
}
