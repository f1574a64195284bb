import * as z from 'zod';
import { BatonError } from '../../../core/baton-error.ts';
import { latestComments, mostComments } from '../../latest-comments.ts';
import type { Ask, IssueComment, IssueComments } from '../../tracker.ts';
import { issueCommentsOperation } from '../call/documents.ts';
import { isPossibleId, withIds } from './issue-filters.ts';
import { optionalText, person, time } from './linear-record.ts';
import type { ReadParts } from './read-issues.ts';

const shownName = z.object({ displayName: optionalText }).nullish().catch(null);

const shown = z
  .object({
    user: shownName,
    externalUser: shownName,
    botActor: z.object({ name: optionalText }).nullish().catch(null),
  })
  .transform(
    ({ user, externalUser, botActor }) => botActor?.name ?? externalUser?.displayName ?? user?.displayName ?? null,
  );

/**
 * A comment of a bot, an integration or a person outside Linear has no author, even where it was written for a person.
 * The same holds for a comment whose author Linear does not name.
 */
const comment = z
  .object({
    id: z.string().min(1).optional().catch(undefined),
    body: z.string(),
    createdAt: time,
    user: z.unknown(),
    botActor: z.unknown(),
    externalUser: z.unknown(),
  })
  .transform(({ id, body, createdAt, user, botActor, externalUser }): Omit<IssueComment, 'leftOut'> => {
    // Without an id Baton cannot know whether a run wrote it.
    const isByPerson = id !== undefined && (botActor ?? null) === null && (externalUser ?? null) === null;
    return {
      ...(id === undefined ? {} : { id }),
      author: shown.parse({ user, botActor, externalUser }),
      authorNames: (isByPerson ? person.parse(user ?? null) : null) ?? [],
      at: createdAt,
      body,
    };
  });

const answer = z.object({
  issues: z.object({
    nodes: z.array(
      z.object({ comments: z.object({ nodes: z.array(comment), pageInfo: z.object({ hasNextPage: z.boolean() }) }) }),
    ),
  }),
});

/** The latest comments on an issue of the project, with one request: earlier ones are not requested. */
export async function readComments(id: string, { call, projectSlug }: ReadParts, given?: Ask): Promise<IssueComments> {
  const ask = forAgent(given);
  ask.signal?.throwIfAborted();
  if (!isPossibleId(id)) throw issueNotFound(id);
  const variables = { filter: withIds(projectSlug, [id]), commentFirst: mostComments };
  const { issues } = await call(issueCommentsOperation, variables, answer, ask);
  const [issue] = issues.nodes;
  if (issue === undefined) throw issueNotFound(id);
  const { nodes, pageInfo } = issue.comments;
  return latestComments(nodes.toReversed(), pageInfo.hasNextPage);
}

/** Marks a request that only agents make: counted as theirs, unless another caller is named. */
export function forAgent(ask: Ask = {}): Ask {
  return { ...ask, caller: ask.caller ?? { job: 'agent_tools', cause: 'agent' } };
}

export function issueNotFound(id: string): BatonError {
  return new BatonError('tracker_issue_not_found', `There is no issue ${id} in the project.`, { details: { id } });
}
