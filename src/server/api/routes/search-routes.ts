import * as z from 'zod';
import { type Found, found } from '../../../client/schema/system.ts';
import { sleep } from '../../../clock/clock.ts';
import { certainTime } from '../../../core/text/time-text.ts';
import type { ApiProject } from '../api-project.ts';
import { excerptOf } from '../present/excerpt.ts';
import { textsOf } from '../present/issue-filter.ts';
import type { IssueFacts } from '../present/present-issue.ts';
import type { Route } from '../route.ts';
import { inProject, type ReadParts } from './in-project.ts';
import { listIssues } from './list-issues.ts';

/** A search ends after this time and returns what it has found. */
const searchMs = 2_000;
/** How many of the latest runs, and of their events, are searched. */
const runsSearched = 200;
const eventsSearched = 200_000;
const eventsPerStep = 2_000;

const query = z.object({
  q: z.string().trim().min(1).max(200),
  limit: z.coerce.number().int().min(1).max(100).default(50),
});

/** Finds a text in issues and in recent events of agents. */
export function searchRoutes(parts: ReadParts): Route[] {
  return [
    inProject(parts, {
      path: '/search',
      summary: 'Finds a text in issues and in the events of the latest runs; `limit` applies to each of the two.',
      query,
      answer: found,
      isCostly: true,
      handle: async (project, { query: { q, limit }, signal }) => {
        const search = { text: q, limit, until: parts.clock.monotonic() + searchMs, signal };
        const issues = await searchIssues(project, search, parts);
        const events = await searchEvents(project, search, parts);
        return { results: [...issues.results, ...events.results], is_cut: issues.is_cut || events.is_cut };
      },
    }),
  ];
}

interface Search {
  readonly text: string;
  readonly limit: number;
  /** On the monotonic clock. */
  readonly until: number;
  /** Aborted when the caller no longer waits for the answer. */
  readonly signal: AbortSignal;
}

async function searchIssues(project: ApiProject, search: Search, { clock }: ReadParts): Promise<Found> {
  const { text, limit } = search;
  const results: Found['results'] = [];
  let after: Parameters<typeof listIssues>[1]['after'] = null;
  for (;;) {
    const wanted = { filter: { states: [], text }, order: 'changed' as const, limit: limit - results.length, after };
    const page = await listIssues(project, wanted, clock);
    results.push(...page.issues.map((issue) => issueFound(issue, text)));
    after = page.next;
    if (after === null) return { results, is_cut: false };
    if (results.length >= limit || isOver(search, clock)) return { results, is_cut: true };
    await sleep(clock, 0, search.signal);
  }
}

function issueFound(issue: IssueFacts, text: string): Found['results'][number] {
  const { id, identifier, title, updated_at } = issue;
  const excerpt = textsOf(issue).flatMap((each) => excerptOf(each, text) ?? [])[0] ?? title;
  return {
    kind: 'issue',
    issue_id: id,
    issue_identifier: identifier,
    title,
    excerpt,
    run_id: null,
    seq: null,
    at: updated_at,
  };
}

/** Searches the latest run first. Pauses between two steps, because the store serves one query at a time. */
async function searchEvents(project: ApiProject, search: Search, { clock }: ReadParts): Promise<Found> {
  const { text, limit, signal } = search;
  const { runs, runEvents } = project.tables;
  const results: Found['results'] = [];
  const latest = await runs.list(project.id, { limit: runsSearched + 1 });
  let left = eventsSearched;
  for (const { runId, issueId, identifier } of latest.slice(0, runsSearched)) {
    for (let afterSeq: number | null = 0; afterSeq !== null; ) {
      if (results.length >= limit || left <= 0 || isOver(search, clock)) return { results, is_cut: true };
      const page = await runEvents.search(runId, { text, afterSeq, scan: eventsPerStep });
      const space = limit - results.length;
      for (const { seq, at, summary } of page.events.slice(0, space)) {
        results.push({
          kind: 'transcript',
          issue_id: issueId,
          issue_identifier: identifier,
          title: null,
          excerpt: excerptOf(summary, text) ?? summary,
          run_id: runId,
          seq,
          at: certainTime(at),
        });
      }
      if (page.events.length > space) return { results, is_cut: true };
      afterSeq = page.next;
      left -= eventsPerStep;
      await sleep(clock, 0, signal);
    }
  }
  return { results, is_cut: latest.length > runsSearched };
}

function isOver({ until }: Search, clock: ReadParts['clock']): boolean {
  return clock.monotonic() >= until;
}
