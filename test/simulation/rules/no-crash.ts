import type { World } from '../world.ts';
import type { Rule } from './rule.ts';

/** No run ends because of a defect in Baton: unforeseen errors have the code `internal_error`. */
export function noCrash(world: World): Rule {
  return {
    runEnded: ({ runId, issueId, errorCode }) => {
      if (errorCode === 'internal_error') world.broke('no_crash', issueId, `run ${runId} ended with internal_error`);
    },
  };
}
