import { BatonError } from '../../core/baton-error.ts';
import type { CommandKind } from '../../core/command/command.ts';
import { type CommandAnswer, done, refused } from '../../core/command/command-answers.ts';
import { copyable } from '../../core/command/retry-command.ts';
import { shortcomingText } from '../../core/pipeline/completion.ts';
import { hasPipeline, mostArtifactBytes, phaseNames, phaseOf, readyPhase } from '../../core/pipeline/phase.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { IssueName } from '../claims/claim.ts';
import type { BaseParts } from '../parts.ts';
import {
  type JudgeByPersonParts,
  judgeByPerson,
  type NoDecision,
  shortcomingsOf,
} from '../pipeline/judge-by-person.ts';
import { movePhase, phaseMoved } from '../pipeline/move-phase.ts';
import { findIssue, leaveToItsOwner } from './find-issue.ts';
import { type NotActiveParts, noSuchIssue, whyNotActive } from './refuse-issue.ts';
import { withMessage } from './with-message.ts';

export interface ChangePhaseParts
  extends NotActiveParts,
    JudgeByPersonParts,
    Pick<BaseParts, 'isShared' | 'notify' | 'owner'> {}

const phaseCommandKinds = ['phase_move', 'phase_approve', 'phase_reject', 'artifact_put'] as const;

export type PhaseCommandKind = (typeof phaseCommandKinds)[number];

export function isPhaseCommandKind(kind: CommandKind): kind is PhaseCommandKind {
  return (phaseCommandKinds as readonly CommandKind[]).includes(kind);
}

/** A person moves an issue in the pipeline, decides about its artifact, or writes a version of it. */
export async function changePhase(
  parts: ChangePhaseParts,
  command: Command,
  kind: PhaseCommandKind,
): Promise<CommandAnswer> {
  if (!hasPipeline(parts.source.read().workflow.settings.pipeline))
    return refused('no_pipeline', 'The workflow file lists no phases (pipeline.phases).');
  const reference = command.payload.issue;
  if (typeof reference !== 'string') return refused('no_issue_named', 'The command names no issue.');
  const found = await findIssue(parts, reference);
  if (found === null) return noSuchIssue(parts, reference);
  const { issue, fresh } = found;
  await leaveToItsOwner(parts, issue);
  if (parts.claims.get(issue.id)?.status === 'inheriting')
    throw new BatonError(
      'claim_lost',
      `This daemon is still inheriting ${issue.identifier} from a daemon that is gone.`,
    );
  // A document may be written in any state; for the rest an agent has to continue.
  const notActive = kind === 'artifact_put' || command.begun !== null ? null : await whyNotActive(parts, found, kind);
  const answer = notActive ?? (await acts[kind](parts, issue, command, fresh?.labels ?? labelsOf(parts, issue)));
  if (answer.status === 'done') parts.notify();
  return answer;
}

type Act = (
  parts: ChangePhaseParts,
  issue: IssueName,
  command: Command,
  labels: readonly string[],
) => Promise<CommandAnswer>;

const acts: Record<PhaseCommandKind, Act> = {
  async phase_move(parts, issue, command) {
    const { note, phase } = command.payload;
    const wanted = String(phase ?? '');
    const phases = phaseNames(parts.source.read().workflow.settings.pipeline);
    if (!phases.includes(wanted)) return unknownPhase(wanted, phases);
    return withMessage(parts, issue.id, command, { kind: 'note', body: wordsIn(note) }, async () => {
      await movePhase(parts, issue, wanted, command.author);
      return phaseMoved(issue, wanted);
    });
  },

  phase_approve(parts, issue, command, labels) {
    const words = wordsIn(command.payload.note);
    return withMessage(parts, issue.id, command, { kind: 'note', body: words }, async () => {
      const verdict = { verdict: 'approved', words: words ?? 'Approved by a person.' } as const;
      const decided = await judgeByPerson(parts, issue, { ...verdict, ...of(command), labels });
      if (typeof decided === 'string') return nothingToDecide(decided, issue, 'approve');
      const text = `The artifact of the phase "${decided.phase}" (version ${decided.version}) is approved; ${issue.identifier} is in "${decided.next}" now.`;
      return done('artifact_approved', text, { ...decided });
    });
  },

  async phase_reject(parts, issue, command, labels) {
    const words = wordsIn(command.payload.note);
    if (words === null) return refused('nothing_to_say', 'Say what has to change.');
    const decided = await judgeByPerson(parts, issue, { verdict: 'rejected', words, ...of(command), labels });
    if (typeof decided === 'string') return nothingToDecide(decided, issue, 'reject');
    const text = `The artifact of the phase "${decided.phase}" (version ${decided.version}) goes back to its agent.`;
    return done('artifact_rejected', text, { ...decided });
  },

  async artifact_put({ clock, project, schemaProblem, source, store }, issue, { payload, author }) {
    const { pipeline } = source.read().workflow.settings;
    const key = { project, issueId: issue.id };
    const record = await store.phases.read(key);
    if (record === null) return notInPipeline(issue);
    const name = typeof payload.phase === 'string' ? payload.phase : record.phase;
    const phase = phaseOf(pipeline, name);
    if (phase === null) {
      const phases = pipeline.phases.map((each) => each.name);
      if (name !== readyPhase) return unknownPhase(name, phases);
      const choose = `Name the phase after the issue: ${phases.join(', ')}.`;
      return refused('unknown_phase', `The phase "${readyPhase}" has no artifact. ${choose}`, { phases });
    }
    const text = String(payload.text ?? '');
    const bytes = Buffer.byteLength(text);
    const limit = Math.min(phase.maxBytes, mostArtifactBytes);
    if (bytes > limit)
      return refused('artifact_too_large', shortcomingText({ code: 'artifact_too_large', bytes, limit }), {
        bytes,
        limit,
      });
    const version = await store.artifacts.add(key, { phase: name, text, author, at: clock.now() });
    const shortcomings = shortcomingsOf(text, phase, schemaProblem);
    const lacks = shortcomings.map((each) => ` ${shortcomingText(each)}`).join('');
    const way = name === record.phase ? ` To let the issue continue with it: ${phaseCommand('approve', issue)}` : '';
    const said = `Stored version ${version} of the artifact of the phase "${name}".${lacks}${way}`;
    return done('artifact_stored', said, { phase: name, version, bytes, shortcomings });
  },
};

function of({ author, id, begun }: Command) {
  return { by: author, commandId: id, begun };
}

function wordsIn(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

function labelsOf({ candidates, claims, reads }: ChangePhaseParts, { id }: IssueName): readonly string[] {
  const known = claims.running.get(id)?.issue ?? reads.lastRead(id);
  return (known ?? candidates.withReviews?.find((each) => each.id === id))?.labels ?? [];
}

function unknownPhase(wanted: string, phases: readonly string[]): CommandAnswer {
  const text = `There is no phase "${harmlessLine(wanted)}". Choose one of: ${phases.join(', ')}.`;
  return refused('unknown_phase', text, { phases });
}

function notInPipeline(issue: IssueName): CommandAnswer {
  const text = `${issue.identifier} has not entered the pipeline yet. It does so when its first run starts. To put it into a phase now: ${phaseCommand('move', issue)} PHASE`;
  return refused('not_in_pipeline', text);
}

function nothingToDecide(why: NoDecision, issue: IssueName, verb: 'approve' | 'reject'): CommandAnswer {
  const code = verb === 'approve' ? 'nothing_to_approve' : 'nothing_to_reject';
  switch (why) {
    case 'not_in_pipeline':
      return notInPipeline(issue);
    case 'being_revised':
      return refused(
        code,
        `The agent of ${issue.identifier} is working on its artifact. To tell it something now: baton steer ${copyable(issue.identifier)} TEXT`,
        { why },
      );
    case 'no_artifact':
      return refused(
        code,
        `The phase of ${issue.identifier} has no artifact yet. To write one: ${phaseCommand('artifact', issue)} --put FILE. To send the issue to another phase: ${phaseCommand('move', issue)} PHASE`,
        { why },
      );
  }
}

function phaseCommand(verb: 'approve' | 'artifact' | 'move', { identifier }: IssueName): string {
  return `baton pipeline ${verb} ${copyable(identifier)}`;
}
