import type { Author } from '../core/issue/author.ts';
import type { Surroundings } from '../daemon/surroundings.ts';

/**
 * The author of a command. Inside a run (an agent or its hooks) it is the run: what an agent writes must not pass for
 * the words of a person.
 */
export function authorOf(as: string | undefined, { env, userName }: Pick<Surroundings, 'env' | 'userName'>): Author {
  const runId = env.BATON_RUN_ID;
  return runId === undefined || runId === '' ? { kind: 'person', name: as ?? userName } : { kind: 'run', runId };
}
