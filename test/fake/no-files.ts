import { nothingToPrune } from '../../src/core/prune.ts';
import type { FilePruning } from '../../src/orchestrator/jobs/pruning.ts';

/** A machine on which no file and no branch is past its retention. */
export const noFiles: FilePruning = {
  savedWork: async () => nothingToPrune,
  caches: async () => nothingToPrune,
  standing: async () => [],
  deleteBranch: async () => false,
};
