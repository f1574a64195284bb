import { workflowContext } from '../daemon/adapters.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import { workflowSchema } from '../workflow/table/workflow-schema.ts';
import { exitCodes } from './exit-codes.ts';

/** `baton schema`: the JSON Schema of the front matter. It is JSON with and without `--json`. */
export function schema(surroundings: Surroundings): number {
  const { trackers, backends } = workflowContext(surroundings);
  surroundings.stdout.write(`${JSON.stringify(workflowSchema(trackers, backends), null, 2)}\n`);
  return exitCodes.ok;
}
