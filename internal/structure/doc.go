// Package structure holds the tests of the source tree: which package may import which, and
// what files must or must not contain.
package structure
