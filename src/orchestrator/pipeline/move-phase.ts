import { isDeepStrictEqual } from 'node:util';
import { type CommandAnswer, done } from '../../core/command/command-answers.ts';
import type { Author } from '../../core/issue/author.ts';
import { laterPhases, newPhaseRecord, type PhaseRecord } from '../../core/pipeline/phase.ts';
import { obeyedLabels } from '../../core/pipeline/phase-labels.ts';
import type { StopReason } from '../../core/run/run.ts';
import type { IssueName, Running } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { Phases } from './phases.ts';

export interface MovePhaseParts extends Pick<BaseParts, 'clock' | 'logger' | 'project' | 'source' | 'store'> {
  readonly claims: Claims;
  readonly phases: Phases;
  readonly stopRun: (running: Running, reason: StopReason) => void;
  readonly fillSlots: () => void;
}

/** The holds that ask a person about a phase: what the person does about the phase is the answer. */
const aboutPhases: ReadonlySet<string> = new Set([
  'revisions_exhausted',
  'phase_not_completed',
  'judge_without_verdict',
]);

/** A label that a person changed, and the record that it was compared with. */
export interface SeenLabel {
  readonly record: PhaseRecord;
  readonly labels: readonly string[];
  /** The time of the issue in its tracker. */
  readonly at: number | null;
  /** Under which the label is recorded: it is a command of the person. */
  readonly commandId: string;
}

/**
 * A person moves an issue to a phase, forward or back. An open completion claim is withdrawn, and a run of the issue is
 * stopped: it works on something else. A label counts once, and only if the record is still the one it was compared with.
 */
export async function movePhase(
  parts: MovePhaseParts,
  issue: IssueName,
  phase: string,
  by: Author,
  seen: SeenLabel | null = null,
): Promise<void> {
  const { clock, logger, project, source, store, phases } = parts;
  const key = { project, issueId: issue.id };
  const now = clock.now();
  const moved = await store.transaction(async (tables) => {
    const record = await tables.phases.lock(key);
    if (seen !== null && !isDeepStrictEqual(record, seen.record)) return null;
    const open = await tables.completionClaims.openOf(key);
    if (open?.state === 'pending' || open?.state === 'judging')
      await tables.completionClaims.decide(open.id, open.state, { state: 'withdrawn', reasons: [], at: now, by });
    // What comes after the phase is still to come.
    const later = laterPhases(source.read().workflow.settings.pipeline, phase);
    const skipped = (record?.skipped ?? []).filter((name) => name !== phase && !later.includes(name));
    await tables.phases.put(key, { ...newPhaseRecord(phase, now), skipped });
    if (seen !== null) {
      await tables.phases.setMirrored(key, obeyedLabels(seen.record.mirrored ?? [], seen.labels), seen.at);
      const command = { id: seen.commandId, project, kind: 'phase_move', author: by, at: now, key: null };
      await tables.commands.submit({ ...command, payload: { issue: issue.identifier, phase } });
      await tables.commands.finish(seen.commandId, { ...phaseMoved(issue, phase), at: now });
    }
    return { from: record?.phase ?? null };
  });
  phases.forget(issue.id);
  if (moved === null) return;
  const named = { issue_id: issue.id, issue_identifier: issue.identifier };
  logger.info('phase_moved', { ...named, from: moved.from, to: phase, by: by.kind });
  await continueAfterPerson(parts, issue);
}

export function phaseMoved({ identifier }: IssueName, phase: string): CommandAnswer {
  return done('phase_moved', `${identifier} is in the phase "${phase}" now.`, { phase });
}

/** A person decided about the phase of an issue: its run is about something else now, a hold about phases has its answer, and a retry does not wait any longer. */
export async function continueAfterPerson(
  { claims, stopRun, fillSlots }: MovePhaseParts,
  { id }: Pick<IssueName, 'id'>,
  { stopsRun }: { readonly stopsRun: boolean } = { stopsRun: true },
): Promise<void> {
  const running = claims.running.get(id);
  if (stopsRun && running !== undefined && running.role !== 'judge') stopRun(running, 'phase_moved');
  const held = claims.held.get(id);
  if (held !== undefined && aboutPhases.has(held.code)) await claims.release(id, { byPerson: true, only: held });
  // A wait after a failure belongs to what the agent did before.
  if (claims.retrying.has(id)) await claims.retryInPhase(id);
  fillSlots();
}
