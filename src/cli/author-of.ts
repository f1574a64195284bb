import type { Author } from '../core/issue/author.ts';
import type { Surroundings } from '../daemon/surroundings.ts';

/**
 * The author of a command. Inside a run (its agent or its hooks) the run is the author, so that an agent's text never
 * passes for the words of a person.
 */
export function authorOf(as: string | undefined, { env, userName }: Pick<Surroundings, 'env' | 'userName'>): Author {
  const runId = env.BATON_RUN_ID;
  return runId === undefined || runId === '' ? { kind: 'person', name: as ?? userName } : { kind: 'run', runId };
}
