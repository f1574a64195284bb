import type { Run } from '../../../src/client/schema/run.ts';
import type { Tone } from '../shared/status.tsx';

interface Outcome {
  readonly word: string;
  readonly tone: Tone;
}

const outcomes: ReadonlyMap<string, Outcome> = new Map([
  ['succeeded', { word: 'succeeded', tone: 'landed' }],
  ['failed', { word: 'failed', tone: 'broken' }],
  ['timed_out', { word: 'timed out', tone: 'broken' }],
  ['stalled', { word: 'stalled', tone: 'broken' }],
  ['canceled_by_reconciliation', { word: 'stopped', tone: 'waiting' }],
  ['interrupted', { word: 'interrupted', tone: 'waiting' }],
]);

/** How a run stands: its outcome in a word, and the meaning of its colour. */
export function outcomeOf({ outcome }: Pick<Run, 'outcome'>): Outcome {
  if (outcome === null) return { word: 'running', tone: 'running' };
  return outcomes.get(outcome) ?? { word: outcome, tone: 'waiting' };
}

const begunBy: ReadonlyMap<string, string> = new Map([
  ['continuation', 'goes on'],
  ['interrupted', 'resumed'],
  ['quota', 'after the quota'],
  ['answered', 'with an answer'],
  ['handed_back', 'handed back'],
]);

/** The start of a run, in words that tell it from others of its issue: `first`, `retry 2`, `with an answer`. */
export function attemptWords({ attempt, retry_kind }: Pick<Run, 'attempt' | 'retry_kind'>): string {
  const told = retry_kind === null ? undefined : begunBy.get(retry_kind);
  return told ?? (attempt === null || attempt === 0 ? 'first' : `retry ${attempt}`);
}
