import type { RunEnd } from '../run/run.ts';
import { chanceOfShares, type Middle, middleOf, type Share, shareOf } from './intervals.ts';

/*
 * What became of the runs of a prompt. A prompt is measured by role and agent: the same words mean other work to another
 * agent.
 */

/** A run that has ended, as far as the metrics need it. */
export interface PromptRun {
  readonly runId: string;
  readonly issueId: string;
  readonly version: string;
  readonly source: string;
  readonly role: string;
  readonly agent: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly outcome: RunEnd | null;
  readonly tokens: number;
  readonly costMicroUsd: number;
}

/** What a run handed in: a change for review, or the artifact of a phase. */
export interface PromptResult {
  readonly runId: string;
  readonly isSentBack: boolean;
}

export interface PromptMerge {
  readonly issueId: string;
  readonly at: number;
}

export interface PromptFacts {
  readonly runs: readonly PromptRun[];
  readonly results: readonly PromptResult[];
  readonly merges: readonly PromptMerge[];
}

export interface PromptMeasure {
  readonly version: string;
  readonly source: string;
  readonly role: string;
  /** Null: all agents together. */
  readonly agent: string | null;
  readonly runs: number;
  readonly issues: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** Of the runs that ended by themselves: a person, a stop of Baton and a moved issue say nothing about a prompt. */
  readonly success: Share;
  /** Of what the runs handed in. */
  readonly sentBack: Share;
  /** Of a run. */
  readonly tokens: Middle;
  /** In millionths of a US dollar; only runs with a known cost. */
  readonly costMicroUsd: Middle;
  /** From the first run of an issue to its merge; only issues whose worker runs all had this prompt. */
  readonly toMergeMs: Middle;
}

const ownEnds: ReadonlySet<RunEnd> = new Set(['succeeded', 'failed', 'timed_out', 'stalled']);

/** By version, role and agent, or by version and role; the latest used first. */
export function measurePrompts(facts: PromptFacts, by: 'agent' | 'role'): readonly PromptMeasure[] {
  const keyOf = ({ version, role, agent }: PromptRun): string =>
    JSON.stringify([version, role, by === 'agent' ? agent : null]);
  const times = mergeTimes(facts);
  const measures = [...Map.groupBy(facts.runs, keyOf).values()].flatMap((runs) => {
    const [first] = runs;
    return first === undefined ? [] : [measure(first, runs, facts, times, by)];
  });
  return measures.toSorted((one, other) => other.lastAt - one.lastAt || (keyText(one) < keyText(other) ? -1 : 1));
}

function keyText({ role, version, agent }: PromptMeasure): string {
  return `${role} ${version} ${agent}`;
}

function measure(
  { version, role, agent }: PromptRun,
  runs: readonly PromptRun[],
  { results }: PromptFacts,
  times: ReadonlyMap<string, MergeTime>,
  by: 'agent' | 'role',
): PromptMeasure {
  const ended = runs.filter(({ outcome }) => outcome !== null);
  const own = ended.filter(({ outcome }) => outcome !== null && ownEnds.has(outcome));
  const ids = new Set(runs.map(({ runId }) => runId));
  const handedIn = results.filter(({ runId }) => ids.has(runId));
  const issues = new Set(runs.map(({ issueId }) => issueId));
  const starts = runs.map(({ startedAt }) => startedAt);
  const ofPrompt = [...issues].flatMap((issueId) => {
    const time = role === 'worker' ? times.get(issueId) : undefined;
    const isOfAgent = by === 'role' || time?.agent === agent;
    return time?.version === version && isOfAgent ? [time.ms] : [];
  });
  return {
    version,
    role,
    agent: by === 'agent' ? agent : null,
    // The last place of a text counts: it may have moved from one file into another.
    source: runs.reduce((last, run) => (run.startedAt >= last.startedAt ? run : last)).source,
    runs: runs.length,
    issues: issues.size,
    firstAt: Math.min(...starts),
    lastAt: Math.max(...starts),
    success: shareOf(own.filter(({ outcome }) => outcome === 'succeeded').length, own.length),
    sentBack: shareOf(handedIn.filter(({ isSentBack }) => isSentBack).length, handedIn.length),
    tokens: middleOf(ended.map(({ tokens }) => tokens)),
    costMicroUsd: middleOf(ended.flatMap(({ costMicroUsd }) => (costMicroUsd > 0 ? [costMicroUsd] : []))),
    toMergeMs: middleOf(ofPrompt),
  };
}

interface MergeTime {
  readonly version: string;
  /** Null: several agents worked on it. */
  readonly agent: string | null;
  readonly ms: number;
}

/** Of issues with one prompt for all their worker runs. */
function mergeTimes({ runs, merges }: PromptFacts): ReadonlyMap<string, MergeTime> {
  const workers = Map.groupBy(
    runs.filter(({ role }) => role === 'worker'),
    ({ issueId }) => issueId,
  );
  return new Map(
    merges.flatMap(({ issueId, at }) => {
      const own = (workers.get(issueId) ?? []).filter(({ startedAt }) => startedAt <= at);
      const [version, ...others] = new Set(own.map((run) => run.version));
      if (version === undefined || others.length > 0) return [];
      const agents = new Set(own.map(({ agent }) => agent));
      const ms = at - Math.min(...own.map(({ startedAt }) => startedAt));
      return [[issueId, { version, agent: agents.size === 1 ? ([...agents][0] ?? null) : null, ms }] as const];
    }),
  );
}

export type Difference =
  /** One of the two has no case, or too few to say anything. */
  | 'too_few'
  /** The two have the same share, or the same median. */
  | 'none_seen'
  /** A difference as large comes about by chance in more than one of twenty comparisons. */
  | 'may_be_chance'
  | 'differs';

export interface PromptComparison {
  readonly a: PromptMeasure;
  readonly b: PromptMeasure;
  /** Whether both were used at the same time: then what else changed concerns both. */
  readonly sameTime: boolean;
  readonly differences: Readonly<Record<MeasuredBy, Difference>>;
}

export const measuredBy = ['success', 'sentBack', 'tokens', 'costMicroUsd', 'toMergeMs'] as const;
export type MeasuredBy = (typeof measuredBy)[number];

export function comparePrompts(a: PromptMeasure, b: PromptMeasure): PromptComparison {
  return {
    a,
    b,
    sameTime: a.firstAt <= b.lastAt && b.firstAt <= a.lastAt,
    differences: {
      success: shares(a.success, b.success),
      sentBack: shares(a.sentBack, b.sentBack),
      tokens: middles(a.tokens, b.tokens),
      costMicroUsd: middles(a.costMicroUsd, b.costMicroUsd),
      toMergeMs: middles(a.toMergeMs, b.toMergeMs),
    },
  };
}

function shares(one: Share, other: Share): Difference {
  if (one.of === 0 || other.of === 0) return 'too_few';
  if (one.count * other.of === other.count * one.of) return 'none_seen';
  return chanceOfShares(one, other) < 0.05 ? 'differs' : 'may_be_chance';
}

/** Two medians differ when their intervals do not overlap, which is stricter than one of twenty. */
function middles(one: Middle, other: Middle): Difference {
  if (one.interval !== 'confidence' || other.interval !== 'confidence') return 'too_few';
  if (one.median === other.median) return 'none_seen';
  const isApart = (one.high ?? 0) < (other.low ?? 0) || (other.high ?? 0) < (one.low ?? 0);
  return isApart ? 'differs' : 'may_be_chance';
}
