import * as z from 'zod';
import type { Ask } from '../../tracker.ts';
import { issueWritersOperation } from '../call/documents.ts';
import { isPossibleId, withIds } from './issue-filters.ts';
import { person } from './linear-record.ts';
import { forAgent, issueNotFound } from './read-comments.ts';
import type { ReadParts } from './read-issues.ts';

/** One change of an issue. A change by a bot or by someone that Linear does not name has no author. */
const change = z.object({
  toTitle: z.unknown(),
  updatedDescription: z.unknown(),
  actor: z.unknown(),
  botActor: z.unknown(),
  descriptionUpdatedBy: z.unknown(),
});

const answer = z.object({
  issues: z.object({
    nodes: z.array(
      z.object({
        creator: person,
        botActor: z.unknown(),
        history: z.object({ nodes: z.array(change), pageInfo: z.object({ hasNextPage: z.boolean() }) }),
      }),
    ),
  }),
});

type Writer = readonly string[];

const unknownWriter: Writer = [];

/** Everyone who wrote the title or the description of an issue, each by their names; without names where unknown. */
export async function readWriters(id: string, parts: ReadParts, given?: Ask): Promise<readonly Writer[]> {
  const ask = forAgent(given);
  ask.signal?.throwIfAborted();
  if (!isPossibleId(id)) throw issueNotFound(id);
  const { issues } = await parts.call(issueWritersOperation, { filter: withIds(parts.projectSlug, [id]) }, answer, ask);
  const [issue] = issues.nodes;
  if (issue === undefined) throw issueNotFound(id);
  const { creator, botActor, history } = issue;
  return [
    byPerson(creator, botActor),
    ...history.nodes.flatMap(writersOf),
    // The history has more entries than one page, and nothing says who made those changes.
    ...(history.pageInfo.hasNextPage ? [unknownWriter] : []),
  ];
}

function writersOf(entry: z.output<typeof change>): readonly Writer[] {
  const editors = z.array(person).nullish().catch([null]).parse(entry.descriptionUpdatedBy) ?? [];
  const isDescription = entry.updatedDescription === true || editors.length > 0;
  const isTitle = typeof entry.toTitle === 'string';
  const actor = byPerson(person.parse(entry.actor ?? null), entry.botActor);
  return [
    ...(isTitle || (isDescription && editors.length === 0) ? [actor] : []),
    ...(isDescription ? editors.map((each) => byPerson(each, entry.botActor)) : []),
  ];
}

function byPerson(names: Writer | null, bot: unknown): Writer {
  return (bot ?? null) === null ? (names ?? unknownWriter) : unknownWriter;
}
