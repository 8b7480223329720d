package efg

// For tests of package efg_test.
var (
	Independently = independently
	Shown         = shown
)
