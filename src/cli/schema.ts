import { workflowSchema } from '../workflow/workflow-schema.ts';
import { workflowContext } from './adapters.ts';
import { exitCodes } from './exit-codes.ts';
import type { Surroundings } from './surroundings.ts';

/** `baton schema`: the JSON Schema of the front matter. It is JSON with and without `--json`. */
export function schema(surroundings: Surroundings): number {
  const { trackers, backends } = workflowContext(surroundings);
  surroundings.stdout.write(`${JSON.stringify(workflowSchema(trackers, backends), null, 2)}\n`);
  return exitCodes.ok;
}
