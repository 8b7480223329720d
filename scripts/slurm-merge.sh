#!/bin/sh
# slurm-merge.sh: efg merge under srun, in a Slurm cluster (slurm.sh): alone, on
# several nodes, cancelled and begun again, in a batch script; always the same bytes.
set -eu
cd "$(dirname "$0")/.."
if [ -z "${SLURM_CONF:-}" ]; then
    exec scripts/slurm.sh "$0"
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
efg=$PWD/bin/efg
go run ./bench/simulate -ranks 16384 -steps 20 -stats -o "$dir/parts"
"$efg" merge "$dir/parts" -o "$dir/alone.efg"

same() {
    cmp "$dir/alone.efg" "$dir/$1.efg" && echo "$1: same bytes"
    rm "$dir/$1.efg"
}
srun -Q -N4 -n8 "$efg" merge "$dir/parts" -o "$dir/nodes.efg" && same nodes
for delay in 0.1 0.2 0.4 0.8; do
    srun -Q -N4 -n16 "$efg" merge "$dir/parts" -o "$dir/again.efg" 2>/dev/null &
    sleep $delay
    scancel -u "$(id -un)"
    wait $! || true
done
srun -Q -N2 -n3 "$efg" merge "$dir/parts" -o "$dir/again.efg" && same again
cat >"$dir/job" <<END
#!/bin/sh
srun -Q $efg merge $dir/parts -o $dir/step.efg
$efg merge $dir/parts -o $dir/batch.efg
END
sbatch -Q -W -N2 -n4 -o "$dir/out" "$dir/job" && same step && same batch
left=$(find "$dir/parts" -type f ! -name 'node*.efg')
[ -z "$left" ] || { echo "left behind: $left" >&2; exit 1; }
