// Package structure holds the tests of how the source tree is built: which
// package may import which, and what every file must or must not contain.
package structure
