/**
 * A failing environment is not a failing issue. Where the repository, the agent's program or the model's service cannot be
 * reached, every issue that starts would fail the same way, and after `agent.max_retries` each would wait for a person. So
 * such a failure is counted for the project: new starts wait, and one run at a time tries whether it works again, at an
 * interval that grows. What must hold:
 *
 * - Only a failure without any work of the agent counts: it cost nothing.
 * - An error that can also come from one issue, such as that of a hook, counts when it met two issues in a row.
 * - An issue fails by itself if another one got through while it tried, or since it met the same error before: one issue
 *   that cannot start never keeps the others waiting for ever.
 * - The first run that gets through ends the wait.
 */

import type { BatonError } from '../baton-error.ts';
import type { AnyErrorCode } from '../error-catalogue.ts';
import { failureDelayMs } from './backoff.ts';

/** Times are those of the monotonic clock. */
export interface Environment {
  readonly trouble: Trouble | null;
  /** The last failure that may be that of one issue alone, when no run got through since. */
  readonly doubtful: { readonly code: AnyErrorCode; readonly issueId: string } | null;
  /** When a run last got through, and of which issue. */
  readonly lastGood: { readonly at: number; readonly issueId: string } | null;
  /** Issues that failed and have not got through since, with whether another issue has. */
  readonly failed: ReadonlyMap<string, { readonly code: AnyErrorCode; readonly othersWork: boolean }>;
}

export interface Trouble {
  readonly code: AnyErrorCode;
  /** The error and its next step, for people. */
  readonly reason: string;
  /** It shows only after the model has answered that it is over. */
  readonly isModel: boolean;
  readonly since: number;
  /** When one run tries it again. */
  readonly until: number;
  /** Failures in a row. */
  readonly failures: number;
}

export const goodEnvironment: Environment = { trouble: null, doubtful: null, lastGood: null, failed: new Map() };

/** No issue can cause these, and no agent has worked when they come. */
const certain: ReadonlySet<AnyErrorCode> = new Set([
  'agent_launch_failed',
  'git_missing',
  'git_timeout',
  'isolation_failed',
  'isolation_hides_path',
  'isolation_unavailable',
  'process_spawn_failed',
  'repository_unavailable',
  'workspace_root_unsafe',
]);

/** An issue may cause these alone, with its branch, its files, or what a hook makes of its name; an agent that worked too. */
const doubtful: ReadonlySet<AnyErrorCode> = new Set([
  'agent_exited',
  'agent_protocol_error',
  'git_failed',
  'path_canonicalize_failed',
  'workspace_copy_failed',
  'workspace_hook_failed',
  'workspace_hook_timeout',
  'workspace_unavailable',
]);

/** More issues than this fail one after another only if nothing works; the oldest are forgotten. */
const mostFailed = 1_000;

/** A run that failed. */
export interface FailedRun {
  readonly issueId: string;
  readonly error: BatonError;
  readonly turns: number;
  readonly startedAt: number;
  /** The model answered: the agent used tokens. */
  readonly hasAnswer: boolean;
  readonly now: number;
  readonly longestWaitMs: number;
  /** 0 to 1, for the jitter. */
  readonly chance: number;
}

/** The environment after a run failed, and whether it, and not the issue, is to blame. */
export function afterFailedRun(
  before: Environment,
  run: FailedRun,
): { readonly environment: Environment; readonly isToBlame: boolean } {
  const { issueId, error, now } = run;
  const { code } = error;
  const isModel = error.details.unreachable === true && !run.hasAnswer;
  const isCertain = isModel || certain.has(code);
  if (!isCertain && (run.turns > 0 || !doubtful.has(code))) return { environment: before, isToBlame: false };
  const { lastGood } = before;
  const known = before.failed.get(issueId);
  const hasGoodNews = lastGood !== null && lastGood.issueId !== issueId && lastGood.at >= run.startedAt;
  const othersWork = hasGoodNews || (known?.code === code && known.othersWork);
  const failed = new Map([...before.failed, [issueId, { code, othersWork }] as const].slice(-mostFailed));
  if (othersWork) return { environment: { ...before, failed }, isToBlame: false };
  const isSecond = before.doubtful?.code === code && before.doubtful.issueId !== issueId;
  if (!isCertain && !isSecond && before.trouble === null)
    return { environment: { ...before, doubtful: { code, issueId } }, isToBlame: false };
  // Runs that started together fail together: that is one failure.
  if (before.trouble !== null && now < before.trouble.until)
    return { environment: { ...before, failed }, isToBlame: true };
  const failures = (before.trouble?.failures ?? 0) + 1;
  const trouble: Trouble = {
    code,
    reason: `${error.message} ${error.nextStep}`,
    isModel,
    since: before.trouble?.since ?? now,
    until: now + failureDelayMs(failures, run.longestWaitMs, run.chance),
    failures,
  };
  return { environment: { ...before, trouble, doubtful: null, failed }, isToBlame: true };
}

/** The environment after an agent began its first turn, or after its model answered. */
export function afterGoodStart(
  before: Environment,
  { issueId, hasAnswer, now }: { readonly issueId: string; readonly hasAnswer: boolean; readonly now: number },
): Environment {
  if (before.trouble?.isModel === true && !hasAnswer) return before;
  const others = [...before.failed].filter(([id]) => id !== issueId);
  const failed = new Map(others.map(([id, { code }]) => [id, { code, othersWork: true }]));
  return { trouble: null, doubtful: null, lastGood: { at: now, issueId }, failed };
}
