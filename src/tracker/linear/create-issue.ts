import { createHash } from 'node:crypto';
import * as z from 'zod';
import { BatonError } from '../../core/baton-error.ts';
import { normalizeLabels, normalizeState } from '../../core/issue/issue.ts';
import type { Ask, NewIssue } from '../tracker.ts';
import { unknownPayload } from './call/call-linear.ts';
import { createChildOperation, longLists, projectTeamOperation, usualLists } from './call/documents.ts';
import { type ChangeParts, stateIn, stateOfTeam } from './issue-place.ts';
import { readByIds } from './read/read-issues.ts';

const created = z.object({ issueCreate: z.object({ success: z.boolean() }) });
const team = z.object({ id: z.string(), states: z.object({ nodes: z.array(stateOfTeam) }) });
const projectTeams = z.object({
  projects: z.object({ nodes: z.array(z.object({ id: z.string(), teams: z.object({ nodes: z.array(team) }) })) }),
  issueLabels: z.object({
    nodes: z.array(z.object({ id: z.string(), name: z.string(), team: z.object({ id: z.string() }).nullish() })),
  }),
});

/**
 * Creates an issue in the project, in its first team. Its id comes from the key, so that an earlier call with the key is found
 * by a read, and a request whose answer was lost is never repeated blindly.
 */
export async function createIssue(parts: ChangeParts, issue: NewIssue, ask: Ask): Promise<string> {
  const { call, projectSlug } = parts;
  const id = idOfKey(`${projectSlug} ${issue.key}`);
  if ((await readByIds([id], usualLists, parts, ask)).has(id)) return id;
  const { title, description, priority, state } = issue;
  const names = normalizeLabels(issue.labels);
  const variables = {
    slug: projectSlug,
    labels: { or: [...names, ''].map((name) => ({ name: { eqIgnoreCase: name } })) },
  };
  const { projects, issueLabels } = await call(projectTeamOperation, variables, projectTeams, ask);
  const [project] = projects.nodes;
  const [first] = project?.teams.nodes ?? [];
  if (project === undefined || first === undefined)
    throw new BatonError('tracker_response', `Linear has no project "${projectSlug}" with a team.`);
  const isUsable = (teamId: string | undefined): boolean => teamId === undefined || teamId === first.id;
  const labelIds = issueLabels.nodes
    .filter((label) => isUsable(label.team?.id) && names.includes(normalizeState(label.name)))
    .map((label) => label.id);
  const input = {
    id,
    title,
    description,
    teamId: first.id,
    projectId: project.id,
    labelIds,
    ...(priority === null ? {} : { priority }),
    ...(state === undefined ? {} : { stateId: stateIn(first.states.nodes, state) }),
  };
  await ask.run?.onWrite({ kind: 'issue', id });
  const { issueCreate } = await call(createChildOperation, { input, ...longLists }, created, ask);
  if (!issueCreate.success) throw unknownPayload(createChildOperation, 'the issue was not created');
  return id;
}

/** A UUID that is always the same for a key. */
function idOfKey(key: string): string {
  const hex = createHash('sha256').update(key).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join('-');
}
