import { whyNotRoutable } from '../../core/dispatch/eligibility.ts';
import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { PartOfIssue } from '../../runner/runner.ts';
import type { Retrying } from '../claims/claim.ts';
import { type DeliverParts, moveToReview } from '../review/deliver-change.ts';
import { askAsBaton } from '../status/ask-as-baton.ts';
import { askTracker } from '../status/move-issue.ts';
import { partsOfIssue } from './parent-brief.ts';

const caller = { job: 'review', cause: 'retry' } as const;
/** The counter of an issue that says that its parts are listed in a comment. */
const listed = 'parts_listed';

/**
 * Brings an issue into review whose parts did all of its work, so that its own branch has nothing: with a comment that
 * lists the parts and their changes. Undefined where this is not such an issue: then it has a change of its own.
 */
export async function deliverParent(
  parts: DeliverParts,
  { issue: { id } }: Retrying,
): Promise<Issue | null | undefined> {
  const { store, project, source, reads, logger } = parts;
  const found = await partsOfIssue(parts, id);
  const [run] = found.length === 0 ? [] : await store.runs.list(project, { issueId: id, limit: 1 });
  const { publication, git } = run?.evidence ?? {};
  const hasCommits = publication?.outcome === 'published' || (git?.ahead ?? 0) > 0;
  if (run === undefined || hasCommits || publication?.outcome === 'refused') return undefined;
  const { settings } = source.read().workflow;
  const issue = (await reads.byIds([id], caller)).get(id) ?? null;
  if (issue === null || isInOneOf(settings.tracker.reviewStates)(issue)) return issue;
  if (whyNotRoutable(issue, settings.tracker) !== null) return issue;
  await listParts(parts, issue, found);
  const moved = await moveToReview(parts, settings, issue);
  logger.info('parent_in_review', { issue_id: id, issue_identifier: issue.identifier, parts: found.length });
  return moved;
}

/** Noted before it is sent: after a crash a missing comment is better than two. */
async function listParts(parts: DeliverParts, { id, identifier }: Issue, found: readonly PartOfIssue[]): Promise<void> {
  const { store, project, source, trackerFor, logger } = parts;
  const { settings } = source.read().workflow;
  const { changes, editor } = trackerFor(settings);
  const key = { project, issueId: id };
  // A tracker with an editor is Baton's own, where a comment disturbs no one.
  if (changes === null || (!settings.tracker.comments && editor === undefined)) return;
  if (((await store.counters.read(key))[listed] ?? 0) > 0) return;
  await store.counters.set(key, listed, 1);
  const body = [
    'There was nothing left to do: the parts of this issue did all its work.',
    '',
    ...found.map(partLine),
  ].join('\n');
  const by = { kind: 'orchestrator' } as const;
  await askTracker(parts, (signal) =>
    changes.addComment(id, body, by, askAsBaton(parts, id, { caller, signal })),
  ).catch((error) => logger.warn('parts_not_listed', { issue_id: id, issue_identifier: identifier, error }));
}

function partLine({ identifier, title, state, change }: PartOfIssue): string {
  const what = change === null ? 'no change' : `${change.isMerged ? 'merged' : 'not merged'}: ${change.title}`;
  return harmlessLine(`- ${identifier} (${state ?? 'gone'}): ${title} — ${what}${change?.url ? ` ${change.url}` : ''}`);
}
