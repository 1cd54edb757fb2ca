#!/bin/sh
#SBATCH --job-name=locksim-explore
#SBATCH --array=1-16
#SBATCH --cpus-per-task=2
#SBATCH --mem=512M
#SBATCH --requeue
set -eu
part=$SLURM_ARRAY_TASK_ID
ledger=part-$part.jsonl
# A task that is requeued continues its ledger.
if [ -s "$ledger" ]; then how=--resume; else rm -f "$ledger"; how=--ledger; fi
exec locksim explore --lock redlock --max-faults 3 --worlds 1000000 \
	--jobs "$SLURM_CPUS_PER_TASK" --shard "$part/$SLURM_ARRAY_TASK_COUNT" "$how" "$ledger"
