import type { Author } from '../core/issue/author.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import { findOwnRun } from '../process/containment/inside-run.ts';

/**
 * The author of a command. Inside a run (an agent or its hooks) it is the run: what an agent writes must not pass for
 * the words of a person. A running daemon does not rely on this; it checks the caller itself (`server/local-proofs.ts`).
 */
export async function authorOf(
  as: string | undefined,
  { env, userName, clock }: Pick<Surroundings, 'env' | 'userName' | 'clock'>,
): Promise<Author> {
  const runId = env.BATON_RUN_ID || (await findOwnRun(clock));
  return runId === null ? { kind: 'person', name: as ?? userName } : { kind: 'run', runId };
}
