import { stateClass } from '../dispatch/eligibility.ts';
import { type Issue, normalizeState } from '../issue/issue.ts';
import type { TrackerSettings, WorkspaceSettings } from '../settings.ts';

/** What is known of a workspace that is there. */
export interface WorkspaceSituation {
  /** Who has its issue, as the end of a sentence; null when nobody has. */
  readonly claim: string | null;
  readonly isPinned: boolean;
  /** Undefined when nobody knows which it is or could ask, null when the tracker does not have it any more. */
  readonly issue: Pick<Issue, 'state'> | null | undefined;
  /** Since when nobody worked in it: the end of its last run, or the last change of the directory. */
  readonly idleSince: number;
}

export type StayCode = 'claimed' | 'pinned' | 'issue_unknown' | 'issue_gone' | 'not_finished' | 'retention';

/** Why a workspace stays; the text completes "The workspace stays: …". */
export interface Stay {
  readonly code: StayCode;
  readonly text: string;
}

export interface StayRules {
  readonly tracker: TrackerSettings;
  readonly workspace: WorkspaceSettings;
  readonly now: number;
  /** A person who asks for it at once does not wait until the time of a finished workspace is over. */
  readonly ignoresRetention: boolean;
}

/**
 * Why a workspace is not removed now, or null when it may go. Only the workspace of an issue that is over goes, when
 * nobody has that issue, no person has pinned it and its time is over. In doubt it stays.
 */
export function whyItStays({ claim, isPinned, issue, idleSince }: WorkspaceSituation, rules: StayRules): Stay | null {
  if (claim !== null) return { code: 'claimed', text: claim };
  if (isPinned) return { code: 'pinned', text: 'it is pinned' };
  if (issue === undefined) return { code: 'issue_unknown', text: 'nobody knows the issue it belongs to' };
  if (issue === null) return { code: 'issue_gone', text: 'the tracker does not have its issue any more' };
  if (stateClass(issue.state, rules.tracker) !== 'terminal')
    return { code: 'not_finished', text: `its issue is not finished (${issue.state})` };
  const keptMs = retentionOf(issue.state, rules.workspace);
  // Nothing to wait for, whatever the clocks of other machines say.
  if (keptMs === 0 || rules.ignoresRetention || idleSince + keptMs <= rules.now) return null;
  return { code: 'retention', text: `it is kept until ${new Date(idleSince + keptMs).toISOString()}` };
}

/** How long the workspace of an issue stays that is over in this state. */
function retentionOf(state: string, { retentionMs, retentionMsByState }: WorkspaceSettings): number {
  const name = normalizeState(state);
  return Object.hasOwn(retentionMsByState, name) ? (retentionMsByState[name] ?? retentionMs) : retentionMs;
}

/** How long a workspace stays at least, whatever the state of its issue. */
export function shortestRetention({ retentionMs, retentionMsByState }: WorkspaceSettings): number {
  return Math.min(retentionMs, ...Object.values(retentionMsByState));
}
