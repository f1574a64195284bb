import { BatonError } from '../../core/baton-error.ts';
import type { Issue } from '../../core/issue/issue.ts';
import type { Problem } from '../../core/problem.ts';
import type { PromptInput, Workflow } from '../../core/workflow.ts';
import { errorAt } from '../workflow-problems.ts';

/** For what a template makes of an issue, where there is none yet. */
export const sampleIssue: Issue = {
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
  ...sampleIssue,
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

/** A fixed mark is safe here: sample issues have no author who could guess it. */
const fenceMark = 'sample-mark-of-no-fence';

/** Templates often branch on whether a value is present and whether it is the first run: each case is tried. */
const samples: readonly PromptInput[] = [sampleIssue, bareIssue].flatMap((issue) => [
  { issue, attempt: null, retryKind: null, fenceMark: null },
  { issue, attempt: null, retryKind: null, fenceMark },
  { issue, attempt: 1, retryKind: 'continuation' as const, fenceMark },
  { issue, attempt: 2, retryKind: 'failure' as const, fenceMark },
  { issue, attempt: 1, retryKind: 'interrupted' as const, fenceMark },
]);

/** A sample that differs in everything that a branch name may contain. */
const otherIssue: Issue = {
  ...sampleIssue,
  id: 'other-sample-id',
  identifier: 'ABC-124',
  title: 'Another sample issue',
  description: 'Something else.',
  branchName: 'abc-124-another-sample-issue',
  url: 'https://tracker.example/ABC-124',
  nativeRef: { number: 124 },
};

/** Renders both templates for sample issues, to find an unknown variable before the first run costs anything. */
export function tryTemplates(workflow: Workflow): Problem[] {
  const prompts = failures(samples, (input) => workflow.renderPrompt({ ...input, which: 'first' }));
  const seconds = failures(samples, (input) => workflow.renderPrompt({ ...input, which: 'second' }));
  const planners = failures(samples, (input) => workflow.renderPrompt({ ...input, role: 'planner' }));
  const judges = failures(samples, (input) => workflow.renderPrompt({ ...input, role: 'judge' }));
  const phases = workflow.settings.pipeline.phases.flatMap(({ name: phase }) =>
    (['phase', 'phase_judge'] as const).flatMap((role) =>
      failures(samples, (input) => workflow.renderPrompt({ ...input, role, phase })).map((error) =>
        problemOf(error, `pipeline.phases.${phase}.${role === 'phase' ? 'prompt' : 'judge_prompt'}`),
      ),
    ),
  );
  const branches = failures([sampleIssue, bareIssue, otherIssue], workflow.renderBranch);
  return [
    ...prompts.map((error) => problemOf(error, null)),
    ...(workflow.settings.secondPrompt.file === null
      ? []
      : seconds.map((error) => problemOf(error, 'second_prompt.file'))),
    ...judges.map((error) => problemOf(error, 'judge.prompt')),
    ...planners.map((error) => problemOf(error, 'planner.prompt')),
    ...phases,
    ...branches.map((error) => problemOf(error, branchKey)),
    ...(branches.length === 0 ? sharedBranch(workflow) : []),
  ];
}

const branchKey = 'workspace.branch';

/** Returns each failure once, however many inputs cause it. */
function failures<T>(inputs: readonly T[], render: (input: T) => string): BatonError[] {
  const errors = new Map<string, BatonError>();
  for (const input of inputs) {
    try {
      render(input);
    } catch (thrown) {
      if (!(thrown instanceof BatonError)) throw thrown;
      errors.set(thrown.message, thrown);
    }
  }
  return [...errors.values()];
}

/** Removes the path from the message: the caller names the file. */
function problemOf({ code, message, details: { path, ...details } }: BatonError, key: string | null): Problem {
  return errorAt(key, message.replace(`${path}: `, ''), { code, ...details });
}

/** Two agents on one branch would write over each other's work. */
function sharedBranch({ renderBranch, settings }: Workflow): Problem[] {
  if (settings.workspace.strategy === 'none' || renderBranch(sampleIssue) !== renderBranch(otherIssue)) return [];
  const branch = renderBranch(sampleIssue);
  const message = `${branchKey} gives every issue the same branch, ${JSON.stringify(branch)}`;
  return [errorAt(branchKey, `${message}; put {{ issue.identifier }} into it`, { problem: 'shared_branch', branch })];
}
