import type { Surroundings } from '../../daemon/surroundings.ts';
import { daemonStatus, type Workplace, type WorkplaceFlags } from '../../daemon/workplace.ts';
import type { StoredQuestion } from '../../store/tables/questions.ts';

/**
 * How a question stands.
 *
 * | state | meaning |
 * |---|---|
 * | `agent_waits` | its agent lives and waits for the answer, until `waitsUntil` |
 * | `run_ended` | its run has ended; an answer lets the issue go on |
 * | `unattended` | nobody waits just now, though its run has no end yet; an answer is kept for the next run |
 * | `answered`, `closed` | it is over |
 */
export interface QuestionState {
  readonly state: 'agent_waits' | 'run_ended' | 'unattended' | 'answered' | 'closed';
  /** Wall time at which the run ends without an answer. */
  readonly waitsUntil: number | null;
}

/** Reads how questions stand; the daemon is asked once, and only when one of them is open. */
export async function questionStates(
  questions: readonly StoredQuestion[],
  { store }: Workplace,
  flags: WorkplaceFlags,
  surroundings: Surroundings,
): Promise<readonly QuestionState[]> {
  const waits = questions.some(isOpen) ? waitingIn(await daemonStatus(flags, surroundings)) : new Map<string, number>();
  const states: QuestionState[] = [];
  for (const question of questions) {
    const waitsUntil = waits.get(question.id) ?? null;
    if (!isOpen(question)) states.push({ state: question.given === null ? 'closed' : 'answered', waitsUntil: null });
    else if (waitsUntil !== null) states.push({ state: 'agent_waits', waitsUntil });
    else {
      const hasEnded = ((await store.runs.read(question.runId))?.finish ?? null) !== null;
      states.push({ state: hasEnded ? 'run_ended' : 'unattended', waitsUntil: null });
    }
  }
  return states;
}

export function isOpen({ given, closedAt }: StoredQuestion): boolean {
  return given === null && closedAt === null;
}

/** The questions of live agents, as the daemon tells them. One of another version may tell none. */
function waitingIn(status: unknown): ReadonlyMap<string, number> {
  const told = typeof status === 'object' && status !== null && 'questions' in status ? status.questions : [];
  const found = (Array.isArray(told) ? told : []).flatMap((each: { id?: unknown; waits_until?: unknown } | null) => {
    const until = Date.parse(String(each?.waits_until));
    return typeof each?.id === 'string' && !Number.isNaN(until) ? [[each.id, until] as const] : [];
  });
  return new Map(found);
}
