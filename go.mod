module github.com/efg-tools/efg

go 1.26
