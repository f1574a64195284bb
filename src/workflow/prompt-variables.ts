import type { Issue } from '../core/issue.ts';
import type { PromptInput } from '../core/workflow.ts';

/** What a template sees, under the names of the specification (4.1.1, 12.1). */
export function promptVariables({ issue, attempt, retryKind }: PromptInput): Record<string, unknown> {
  return { issue: issueVariables(issue), attempt, retry_kind: retryKind };
}

/** An issue as every template sees it. */
export function issueVariables(issue: Issue): Record<string, unknown> {
  return {
    id: issue.id,
    native_ref: issue.nativeRef,
    identifier: issue.identifier,
    title: issue.title,
    description: issue.description,
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

/** ISO 8601 in UTC; whole seconds are written without a fraction. */
function timeText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString().replace('.000Z', 'Z');
}
