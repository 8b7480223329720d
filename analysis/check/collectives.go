package check

func (b *builder) collectives(procs []int) error { return nil }
