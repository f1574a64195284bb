import * as z from 'zod';
import { normalizeState } from '../../../core/issue/issue.ts';
import type { KnownIssue } from '../../../core/task/proposal.ts';
import type { Ask } from '../../tracker.ts';
import type { CallLinear } from '../call/call-linear.ts';
import { openIssuesOperation } from '../call/documents.ts';
import { inProject } from './issue-filters.ts';

const answer = z.object({
  issues: z.object({
    nodes: z.array(z.object({ identifier: z.string(), title: z.string(), state: z.object({ name: z.string() }) })),
  }),
});

interface Parts {
  readonly call: CallLinear;
  readonly projectSlug: string;
  readonly terminalStates: ReadonlySet<string>;
}

/** The newest issues of the project that are not finished, in any of its states; as many as one request gives. */
export async function readOpen(
  { call, projectSlug, terminalStates }: Parts,
  ask?: Ask,
): Promise<readonly KnownIssue[]> {
  ask?.signal?.throwIfAborted();
  const filter = { ...inProject(projectSlug), state: { type: { in: ['triage', 'backlog', 'unstarted', 'started'] } } };
  const { issues } = await call(openIssuesOperation, { filter }, answer, ask);
  return issues.nodes
    .filter(({ state }) => !terminalStates.has(normalizeState(state.name)))
    .map(({ identifier, title }) => ({ identifier, title }));
}
