package main

import "fmt"

// regions measures the cost of naming regions and attributes.
func regions(b *bench) error {
	fmt.Printf("\n## Regions\n\nProcessor time of a begin and an end, or of an attribute, ns (bench/mpi/regions.c); alone without the loop itself.\n\n")
	fmt.Println("| MPI | shape | alone | recorded, no times | time statistics | times of each call |")
	fmt.Println("|---|---|---:|---:|---:|---:|")
	for _, m := range b.mpis {
		exe, err := b.build(m, "bench/mpi/regions.c", "-Ihook/include")
		if err != nil {
			return err
		}
		for _, shape := range []struct{ name, arg string }{
			{"begin and end by name", "pair"}, {"begin and end", "innermost"}, {"attribute that counts up", "attribute"},
		} {
			empty := []string{exe, "empty", "2000000"}
			cmd := []string{exe, shape.arg, "2000000"}
			_, added, err := b.alternate(empty, cmd, b.recorded("off", cmd...), b.recorded("stats", cmd...), b.recorded("auto", cmd...))
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %s | %.2f | %.1f | %.1f | %.1f |\n", m.name, shape.name, added[1], added[2], added[3], added[4])
		}
	}
	return nil
}
