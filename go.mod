module github.com/efg-tools/efg

go 1.26.0

require github.com/cespare/xxhash/v2 v2.3.0

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/vmihailenco/msgpack/v5 v5.4.1 // indirect
	github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect
)
