import { BatonError } from '../../core/baton-error.ts';
import type { Author } from '../../core/issue/author.ts';
import {
  contentShortcomings,
  type SchemaProblem,
  type Shortcoming,
  shortcomingText,
  type Transition,
} from '../../core/pipeline/completion.ts';
import { laterPhases, nextPhase, type Phase, type PhaseRecord, phaseOf } from '../../core/pipeline/phase.ts';
import { markedToSkip } from '../../core/pipeline/phase-labels.ts';
import type { Opinion } from '../../core/pull/judge.ts';
import type { IssueKey } from '../../store/issue-key.ts';
import type { StoreTables } from '../../store/store.ts';
import type { StoredCompletion } from '../../store/tables/pipeline/completion-claims.ts';
import type { IssueName } from '../claims/claim.ts';
import type { BaseParts } from '../parts.ts';
import { continueAfterPerson, type MovePhaseParts } from './move-phase.ts';
import { writeTransition } from './transitions.ts';

export type JudgeByPersonParts = MovePhaseParts & Pick<BaseParts, 'chance' | 'schemaProblem' | 'source'>;

export interface PersonVerdict {
  readonly verdict: Opinion['verdict'];
  readonly words: string;
  readonly by: Author;
  readonly commandId: string;
  /** What the command did before a crash: then it only has to be finished. */
  readonly begun: string | null;
  /** Of the issue: they mark phases to be skipped. */
  readonly labels: readonly string[];
}

/** What a person decided. The phase stays the same where the artifact goes back. */
export interface PersonDecision {
  readonly phase: string;
  readonly version: number;
  readonly next: string;
}

export type NoDecision = 'not_in_pipeline' | 'no_artifact' | 'being_revised';

/**
 * A person approves or rejects the newest artifact of the phase that an issue is in, in the place of its judge. What must
 * hold:
 *
 * - An approval counts whatever the contract misses, and whatever a judge said before.
 * - A rejection goes back to the agent however often others did: a person has decided.
 * - The decision and the beginning of the command are one transaction, so that a repeated command decides nothing else.
 */
export async function judgeByPerson(
  parts: JudgeByPersonParts,
  issue: IssueName,
  verdict: PersonVerdict,
): Promise<PersonDecision | NoDecision> {
  const { logger, project, store, phases } = parts;
  const key = { project, issueId: issue.id };
  const decided =
    verdict.begun === null
      ? await store.transaction((tables) => decide(parts, tables, key, verdict))
      : (JSON.parse(verdict.begun) as PersonDecision);
  if (typeof decided === 'string') return decided;
  phases.forget(issue.id);
  const named = { issue_id: issue.id, issue_identifier: issue.identifier };
  logger.info('artifact_decided', { ...named, ...decided, verdict: verdict.verdict, by: verdict.by.kind });
  // A run that is in progress when the command comes again began after the decision.
  await continueAfterPerson(parts, issue, { stopsRun: verdict.begun === null });
  return decided;
}

async function decide(
  { chance, claims, clock, schemaProblem, source }: JudgeByPersonParts,
  tables: StoreTables,
  key: IssueKey,
  { verdict, words, by, commandId, labels }: PersonVerdict,
): Promise<PersonDecision | NoDecision> {
  const { pipeline } = source.read().workflow.settings;
  const now = clock.now();
  const record = await tables.phases.lock(key);
  if (record === null) return 'not_in_pipeline';
  const phase = phaseOf(pipeline, record.phase);
  const versions = (await tables.artifacts.list(key)).filter((each) => each.phase === record.phase);
  if (phase === null || versions.length === 0) return 'no_artifact';
  const version = Math.max(...versions.map((each) => each.version));
  const last = await lastClaim(tables, key, record);
  const isOpen = last?.state === 'pending' || last?.state === 'judging';
  const isAtWork = claims.running.get(key.issueId)?.role === 'phase';
  if (verdict === 'rejected' && isAtWork && !isOpen) return 'being_revised';

  const isSame = last !== null && last.version === version;
  const written = isSame ? null : await tables.artifacts.read(key, phase.name, version);
  // What a person wrote counts whatever it lacks, and the record says what that is.
  const found = written === null ? (last?.found ?? []) : shortcomingsOf(written.text, phase, schemaProblem);
  const transition: Transition =
    verdict === 'approved'
      ? {
          to: 'advance',
          ...nextPhase(pipeline, phase.name, {
            skipTo: skipOf(last, phase, laterPhases(pipeline, phase.name)),
            marked: markedToSkip(labels),
          }),
          warnings: found.map(shortcomingText),
        }
      : // Reasons that the agent has not resolved yet stay.
        { to: 'revise', reasons: [words, ...(isSame && !isOpen ? last.reasons : [])] };
  const claim =
    isOpen && isSame
      ? { id: last.id, phase: phase.name, state: last.state as 'pending' | 'judging' }
      : ({ id: chance.id(), phase: phase.name, state: 'pending' } as const);
  if (claim.id !== last?.id)
    await tables.completionClaims.add(key, {
      id: claim.id,
      phase: phase.name,
      runId: null,
      path: phase.artifact,
      version,
      summary: words,
      skipTo: null,
      at: now,
      found,
    });
  const judged = { opinion: { verdict, summary: words, findings: [] }, by };
  if (!(await writeTransition(tables, key, claim, transition, { now, judged })))
    throw new BatonError('claim_lost', 'The artifact was decided about at the same moment.');
  const next = transition.to === 'advance' ? transition.phase : phase.name;
  const decision: PersonDecision = { phase: phase.name, version, next };
  await tables.commands.begin(commandId, JSON.stringify(decision));
  return decision;
}

/** What the version of a person lacks of the contract of its phase. */
export function shortcomingsOf(
  text: string,
  phase: Pick<Phase, 'requiredSections' | 'schema'>,
  schemaProblem: SchemaProblem | undefined,
): readonly Shortcoming[] {
  return contentShortcomings(text, phase, phase.schema === null ? null : (schemaProblem?.(phase.schema, text) ?? null));
}

/** The newest completion claim of the phase that the issue is in now. */
async function lastClaim(
  { completionClaims }: StoreTables,
  key: IssueKey,
  { phase, since }: PhaseRecord,
): Promise<StoredCompletion | null> {
  const claims = await completionClaims.list(key, claimsSearched);
  return claims.find((claim) => claim.phase === phase && claim.at >= since) ?? null;
}

const claimsSearched = 20;

/** Where the agent wanted the issue to go, if it may. */
function skipOf(claim: StoredCompletion | null, { maySkip }: Phase, later: readonly string[]): string | null {
  const wanted = claim?.skipTo ?? null;
  return wanted !== null && maySkip && later.includes(wanted) ? wanted : null;
}
