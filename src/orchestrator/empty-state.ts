import type { SchedulingState } from './scheduling-state.ts';

/** What an orchestrator knows before it has looked at anything. */
export function emptySchedulingState(): SchedulingState {
  return {
    running: new Map(),
    retrying: new Map(),
    held: new Map(),
    adopting: new Set(),
    leftBehind: new Set(),
    looking: new Set(),
    cleaning: new Set(),
    generations: new Map(),
    polled: null,
    candidates: null,
    candidatesRevision: 0,
    doubtful: new Set(),
    inReview: null,
    withWorkspace: [],
    elsewhere: [],
    skipped: new Map(),
    followed: new Map(),
    completed: new Map(),
    paused: null,
    unansweredPause: null,
    today: {
      readings: 0,
      day: '',
      tokens: 0,
      microUsd: 0,
      elsewhere: { tokens: 0, microUsd: 0 },
      allowedAfter: { tokens: 0, microUsd: 0 },
    },
    lookedAt: {
      orphansLookedForAt: 0,
      pauseReadAt: 0,
    },
    pollErrors: [],
    findings: [],
    totals: { runs: 0, runMs: 0, runsByEnd: new Map(), inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  };
}
