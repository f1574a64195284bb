import { type Blocker, type Issue, normalizeLabels, normalizeState } from '../../../core/issue/issue.ts';
import type { LinearRecord } from './linear-record.ts';

/** The rules that, together with the issue itself, decide whether agents may work on it. */
export interface DispatchRules {
  /** Normalised. */
  readonly terminalStates: ReadonlySet<string>;
  /** The id of the one user on whose issues Baton works; null means the issues of all users. */
  readonly assigneeId: string | null;
}

export function toIssue(record: LinearRecord, rules: DispatchRules): Issue {
  const { relations, isArchivedOrDeleted: _isArchivedOrDeleted, labels, authorNames, ...rest } = record;
  const blockedBy = relations
    .filter(({ type }) => type.trim().toLowerCase() === 'blocks')
    .map(({ issue }): Blocker => issue);
  const author = authorNames === null ? {} : { authorNames };
  return judged({ ...rest, ...author, labels: normalizeLabels(labels), blockedBy, nativeRef: null }, rules);
}

/** The issue with current states of its blockers, if one of them is in `states`; otherwise the same object. */
export function withBlockers(issue: Issue, states: BlockerStates, rules: DispatchRules): Issue {
  const blockedBy = issue.blockedBy.map((blocker) => {
    const now = blocker.id === null ? undefined : states.get(blocker.id);
    if (now === undefined || (now.state === blocker.state && now.identifier === blocker.identifier)) return blocker;
    return { id: blocker.id, identifier: now.identifier, state: now.state };
  });
  const isSame = blockedBy.every((blocker, index) => blocker === issue.blockedBy[index]);
  return isSame ? issue : judged({ ...issue, blockedBy }, rules);
}

export type BlockerStates = ReadonlyMap<string, { readonly identifier: string; readonly state: string }>;

/**
 * Whether it waits for another issue: it has not been started, and a blocker is not finished (seed 1, Blocker rule).
 */
export function isBlocked({ state, blockedBy }: Pick<Issue, 'state' | 'blockedBy'>, rules: DispatchRules): boolean {
  if (normalizeState(state) !== 'todo') return false;
  return blockedBy.some(
    (blocker) => blocker.state === null || !rules.terminalStates.has(normalizeState(blocker.state)),
  );
}

function judged(issue: Omit<Issue, 'dispatchable'>, rules: DispatchRules): Issue {
  const isMine = rules.assigneeId === null || issue.assigneeId === rules.assigneeId;
  return { ...issue, dispatchable: isMine && !isBlocked(issue, rules) };
}
