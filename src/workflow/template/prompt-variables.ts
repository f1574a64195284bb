import type { Issue } from '../../core/issue/issue.ts';
import { unfencedRecord } from '../../core/text/fence.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { PromptInput } from '../../core/workflow.ts';
import { FencedText } from './fenced-text.ts';

/** The variables of a template, under the names of the specification (4.1.1, 12.1). */
export function promptVariables(
  { issue, attempt, retryKind }: PromptInput,
  trust: { readonly isTrusted: boolean; readonly mark: string | null },
): Record<string, unknown> {
  const { isTrusted, mark } = trust;
  const variables = issueVariables(issue, isTrusted);
  const shown = isTrusted || mark === null ? variables : fencedVariables(variables, issue, mark);
  return { issue: shown, attempt, retry_kind: retryKind };
}

/** An issue as every template sees it. */
export function issueVariables(issue: Issue, isTrusted: boolean): Record<string, unknown> {
  return {
    id: issue.id,
    native_ref: issue.nativeRef,
    identifier: issue.identifier,
    title: issue.title,
    description: issue.description,
    trusted: isTrusted,
    priority: issue.priority,
    state: issue.state,
    branch_name: issue.branchName,
    url: issue.url,
    assignee_id: issue.assigneeId,
    labels: issue.labels,
    blocked_by: issue.blockedBy.map(({ id, identifier, state }) => ({ id, identifier, state })),
    dispatchable: issue.dispatchable,
    created_at: timeText(issue.createdAt),
    updated_at: timeText(issue.updatedAt),
  };
}

/**
 * Fences text of an untrusted author. Names are not fenced, because templates compare them: labels, branch and address may
 * contain the author's words, so each is one line, without invisible characters and without the mark.
 */
function fencedVariables(variables: Record<string, unknown>, issue: Issue, mark: string): Record<string, unknown> {
  return {
    ...unfencedRecord(variables, mark),
    title: new FencedText(harmlessLine(issue.title), mark),
    description: issue.description === null ? null : new FencedText(issue.description, mark),
  };
}

/** ISO 8601 in UTC; whole seconds are written without a fraction. */
function timeText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString().replace('.000Z', 'Z');
}
