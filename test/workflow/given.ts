import { readFileSync } from 'node:fs';
import { codexProfile } from '../../src/agent/codex/profile.ts';
import { commandBackend } from '../../src/agent/command/command-backend.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Issue } from '../../src/core/issue/issue.ts';
import type { Problem } from '../../src/core/problem.ts';
import { boardProfile } from '../../src/tracker/board/profile.ts';
import { linearProfile } from '../../src/tracker/linear/profile.ts';
import { memoryProfile } from '../../src/tracker/memory/profile.ts';
import { type LoadedWorkflow, parseWorkflow } from '../../src/workflow/load-workflow.ts';
import type { WorkflowContext } from '../../src/workflow/workflow-context.ts';

/** Where the workflow file of these tests is said to be. */
export const path = '/repo/WORKFLOW.md';

export function givenContext(env: Record<string, string> = {}): WorkflowContext {
  return {
    surroundings: { env, homeDir: '/home/me', timeZone: 'Asia/Tokyo', defaultRoot: () => '/state/workspaces' },
    trackers: [memoryProfile, linearProfile, boardProfile],
    backends: [
      codexProfile,
      commandBackend,
      { name: 'rehearsal', environment: [], homeVariable: null, reports: 'tokens' },
    ],
  };
}

/** The prompt of a file without a body, as docs/configuration.md shows it. */
export const defaultPrompt =
  /means this prompt:\n\n```liquid\n(.*?)\n```/s.exec(
    readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8'),
  )?.[1] ?? '';

/** A workflow file with this front matter and body, read. */
export function given(frontMatter: string, env: Record<string, string> = {}, body = 'Do it.'): LoadedWorkflow {
  return givenText(`---\n${frontMatter}\n---\n${body}\n`, env);
}

export function givenText(text: string | Uint8Array, env: Record<string, string> = {}): LoadedWorkflow {
  return parseWorkflow(Buffer.from(text), path, givenContext(env));
}

/** The same on top of the smallest good front matter. */
export function givenMemory(frontMatter: string, env: Record<string, string> = {}): LoadedWorkflow {
  return given(`tracker: {kind: memory}\n${frontMatter}`, env);
}

export function givenLinear(provider: string, env: Record<string, string> = {}): LoadedWorkflow {
  return given(`tracker: {kind: linear, provider: ${provider}}`, env);
}

/** The BatonError that `action` throws; anything else fails the test. */
export function refusal(action: () => unknown): BatonError {
  try {
    action();
  } catch (thrown) {
    if (thrown instanceof BatonError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was refused');
}

/** What a refusal finds wrong, in order. */
export function problemsIn(error: BatonError): readonly Problem[] {
  return error.details.problems as Problem[];
}

/** The keys that a refusal names, in order. */
export function keysIn(error: BatonError): (string | null)[] {
  return problemsIn(error).map((problem) => problem.key);
}

export function givenIssue(change: Partial<Issue> = {}): Issue {
  return {
    id: 'issue-1',
    identifier: 'S-1',
    title: 'Refactor backend request path',
    description: 'Replace transport layer',
    priority: 1,
    state: 'Todo',
    branchName: null,
    url: 'https://example.org/issues/S-1',
    assigneeId: null,
    labels: ['backend'],
    blockedBy: [],
    dispatchable: true,
    nativeRef: null,
    createdAt: Date.UTC(2026, 1, 26, 18, 6, 48),
    updatedAt: Date.UTC(2026, 1, 26, 18, 7, 3),
    ...change,
  };
}
