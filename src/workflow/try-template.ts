import { BatonError } from '../core/baton-error.ts';
import type { Issue } from '../core/issue.ts';
import type { Problem } from '../core/problem.ts';
import type { PromptInput, Workflow } from '../core/workflow.ts';
import { errorAt } from './workflow-problems.ts';

const fullIssue: Issue = {
  id: 'sample-id',
  identifier: 'ABC-123',
  title: 'A sample issue',
  description: 'What is to be done.',
  priority: 2,
  state: 'In Progress',
  branchName: 'abc-123-a-sample-issue',
  url: 'https://tracker.example/ABC-123',
  assigneeId: 'sample-user',
  labels: ['backend', 'urgent'],
  blockedBy: [{ id: 'other-id', identifier: 'ABC-1', state: 'Done' }],
  dispatchable: true,
  nativeRef: null,
  createdAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  updatedAt: Date.UTC(2026, 0, 3, 4, 5, 6),
};

const bareIssue: Issue = {
  ...fullIssue,
  description: null,
  priority: null,
  branchName: null,
  url: null,
  assigneeId: null,
  labels: [],
  blockedBy: [],
  createdAt: null,
  updatedAt: null,
};

/** A template often branches on whether something is there and whether it is the first run: each way is tried. */
const samples: readonly PromptInput[] = [fullIssue, bareIssue].flatMap((issue) => [
  { issue, attempt: null, retryKind: null },
  { issue, attempt: 1, retryKind: 'continuation' as const },
  { issue, attempt: 2, retryKind: 'failure' as const },
  { issue, attempt: 1, retryKind: 'interrupted' as const },
]);

/** Renders the prompt for sample issues, so that an unknown variable is found before the first run costs anything. */
export function tryTemplate(workflow: Workflow): Problem[] {
  const messages = new Set<string>();
  for (const sample of samples) {
    try {
      workflow.renderPrompt(sample);
    } catch (thrown) {
      if (!(thrown instanceof BatonError)) throw thrown;
      messages.add(thrown.message.replace(`${workflow.path}: `, ''));
    }
  }
  return [...messages].map((message) => errorAt(null, message, 'template_render_error'));
}
