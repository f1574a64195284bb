import { stateClass } from '../dispatch/eligibility.ts';
import { type Issue, normalizeState } from '../issue/issue.ts';
import type { TrackerSettings, WorkspaceSettings } from '../settings.ts';
import { timeToSecond } from '../text/time-text.ts';

/** The facts about an existing workspace. */
export interface WorkspaceSituation {
  /** Who has claimed its issue, as the end of a sentence; null without a claim. */
  readonly claim: string | null;
  readonly isPinned: boolean;
  /** Undefined when the issue is unknown or the tracker could not be asked, null when the tracker no longer has it. */
  readonly issue: Pick<Issue, 'state'> | null | undefined;
  /** Since when the workspace is unused: the end of its last run, or the last change of the directory. */
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
  /** A person who asks for the removal does not wait for the end of the retention. */
  readonly ignoresRetention: boolean;
}

/**
 * Why a workspace is not removed now, or null when it may be removed. Baton removes only the workspace of a finished
 * issue that has no claim, is not pinned by a person, and has passed its retention. In doubt the workspace stays.
 */
export function whyItStays({ claim, isPinned, issue, idleSince }: WorkspaceSituation, rules: StayRules): Stay | null {
  if (claim !== null) return { code: 'claimed', text: claim };
  if (isPinned) return { code: 'pinned', text: 'it is pinned' };
  if (issue === undefined) return { code: 'issue_unknown', text: 'its issue is not known' };
  if (issue === null) return { code: 'issue_gone', text: 'the tracker no longer has its issue' };
  if (stateClass(issue.state, rules.tracker) !== 'terminal')
    return { code: 'not_finished', text: `its issue is not finished (${issue.state})` };
  const keptMs = retentionOf(issue.state, rules.workspace);
  // Nothing to wait for, even if the clocks of other machines differ.
  if (keptMs === 0 || rules.ignoresRetention || idleSince + keptMs <= rules.now) return null;
  return { code: 'retention', text: `it is kept until ${timeToSecond(idleSince + keptMs)}` };
}

/** How long the workspace of an issue stays that finished in this state. */
function retentionOf(state: string, { retentionMs, retentionMsByState }: WorkspaceSettings): number {
  const name = normalizeState(state);
  return Object.hasOwn(retentionMsByState, name) ? (retentionMsByState[name] ?? retentionMs) : retentionMs;
}

/** The shortest time that a workspace stays, over all states of an issue. */
export function shortestRetention({ retentionMs, retentionMsByState }: WorkspaceSettings): number {
  return Math.min(retentionMs, ...Object.values(retentionMsByState));
}
