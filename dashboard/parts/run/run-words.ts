import type { Run } from '../../../src/client/schema/run.ts';
import type { Tone } from '../shared/status.tsx';

interface Outcome {
  readonly word: string;
  readonly tone: Tone;
}

const outcomes: ReadonlyMap<string, Outcome> = new Map([
  ['succeeded', { word: 'succeeded', tone: 'good' }],
  ['failed', { word: 'failed', tone: 'broken' }],
  ['timed_out', { word: 'timed out', tone: 'broken' }],
  ['stalled', { word: 'stalled', tone: 'broken' }],
  ['canceled_by_reconciliation', { word: 'stopped', tone: 'waiting' }],
  ['interrupted', { word: 'interrupted', tone: 'waiting' }],
]);

/** The outcome of a run in a word, and the tone of its colour. */
export function outcomeOf({ outcome }: Pick<Run, 'outcome'>): Outcome {
  if (outcome === null) return { word: 'running', tone: 'running' };
  return outcomes.get(outcome) ?? { word: outcome, tone: 'waiting' };
}

export const agentReasonWords: Readonly<Record<Run['agent_reason'], string>> = {
  person: 'chosen by a person',
  label: 'by its label',
  state: 'by the state of the issue',
  default: 'the default',
  role: 'by role',
  stand_in: 'as a stand-in',
};

const startWords: ReadonlyMap<string, string> = new Map([
  ['continuation', 'continued'],
  ['interrupted', 'resumed'],
  ['quota', 'after quota reset'],
  ['answered', 'with an answer'],
  ['handed_back', 'handed back'],
  ['revision', 'sent back from review'],
  ['review', 'brought into review'],
]);

/** How a run started, to distinguish the runs of an issue: `first`, `retry 2`, `with an answer`. */
export function attemptWords({ attempt, retry_kind }: Pick<Run, 'attempt' | 'retry_kind'>): string {
  const words = retry_kind === null ? undefined : startWords.get(retry_kind);
  return words ?? (attempt === null || attempt === 0 ? 'first' : `retry ${attempt}`);
}

const waits: ReadonlyMap<string, string> = new Map([
  ['quota', 'for quota'],
  ['answered', 'for an answer'],
  ['handed_back', 'while a person had it'],
  ['revision', 'in review'],
  ['review', 'in review'],
]);

/** What the issue waited for before a run. */
export function waitWords({ retry_kind }: Pick<Run, 'retry_kind'>): string {
  return waits.get(retry_kind ?? '') ?? 'for its retry';
}
