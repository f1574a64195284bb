import * as z from 'zod';
import type { Prompt } from '../../../client/schema/run.ts';
import { type Diff, diff, prompt, runDetail, runEventList, runList } from '../../../client/schema/run.ts';
import { BatonError } from '../../../core/baton-error.ts';
import { certainTime } from '../../../core/text/time-text.ts';
import type { RunRecord } from '../../../store/tables/runs.ts';
import type { ApiProject } from '../api-project.ts';
import { issueNotFound } from '../api-refusal.ts';
import { pageCursor } from '../present/page-cursor.ts';
import { presentRun } from '../present/present-run.ts';
import { type TranscriptEvent, transcriptEvents } from '../present/transcript-payloads.ts';
import type { Route } from '../route.ts';
import { findIssueId } from './find-issue.ts';
import { inProject, type ReadParts } from './in-project.ts';
import { readEvents } from './read-events.ts';
import { readSpans } from './read-spans.ts';

/** How many of the newest runs are searched for the beginning of an id. */
const runsSearched = 1_000;

const mark = pageCursor(z.object({ seq: z.int(), runId: z.string() }));

const eventsQuery = z.object({
  /** The number to continue from, as the previous page returned it. */
  after: z.coerce.number().int().nonnegative().optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
  /** `1`: with payloads; then a page has fewer events. */
  whole: z.enum(['0', '1']).default('0'),
  /**
   * `backwards`: from the end, or from `after`, towards the beginning. The events of a page are in order either way.
   */
  direction: z.enum(['forwards', 'backwards']).default('forwards'),
});

/** Runs: their records, their events and their prompts. */
export function runsRoutes(parts: ReadParts): Route[] {
  const params = { run: z.string().max(200) };
  return [
    inProject(parts, {
      path: '/runs',
      summary: 'Runs of one issue or of all issues, newest first.',
      query: mark.query.extend({ issue: z.string().max(500).optional() }),
      answer: runList,
      handle: async (project, { query: { issue, cursor, limit } }) => {
        const issueId = issue === undefined ? undefined : await findIssueId(project, issue);
        if (issueId === null) return issueNotFound();
        const before = mark.read(cursor);
        const found = await project.tables.runs.list(project.id, {
          limit: limit + 1,
          ...(issueId === undefined ? {} : { issueId }),
          ...(before === null ? {} : { before }),
        });
        const runs = found.slice(0, limit);
        const last = found.length > limit ? runs.at(-1) : undefined;
        return { runs: runs.map(presentRun), next: last === undefined ? null : mark.write(placeOf(last)) };
      },
    }),
    inProject(parts, {
      path: '/runs/:run',
      summary: 'One run, with a timeline of its stages, turns, tool calls and questions.',
      params,
      answer: runDetail,
      isCostly: true,
      handle: async (project, asked) => {
        const run = await findRun(project, asked.params.run);
        const resume = await project.resumeCommand(run.runId).catch(() => null);
        return { ...presentRun(run), ...(await readSpans(project, run)), resume_command: resume };
      },
    }),
    inProject(parts, {
      path: '/runs/:run/events',
      summary: 'The events of a run, page by page from either end.',
      params,
      query: eventsQuery,
      answer: runEventList,
      isCostly: ({ whole }) => whole === '1',
      handle: async (project, { params: asked, query: { after, limit, whole, direction } }) => {
        // Read the run before its events: when it has ended, its events are then complete.
        const { runId, finish } = await findRun(project, asked.run);
        const wanted = { after, limit, isWhole: whole === '1', isBackwards: direction === 'backwards' };
        return { ...(await readEvents(project, runId, wanted)), run_ended: finish !== null };
      },
    }),
    inProject(parts, {
      path: '/runs/:run/prompt',
      summary: 'The prompts that the agent of a run received; text of untrusted authors is marked.',
      params,
      answer: prompt,
      isCostly: true,
      handle: async (project, asked) => readPrompt(project, (await findRun(project, asked.params.run)).runId),
    }),
    inProject(parts, {
      path: '/runs/:run/diff',
      forAgents: 'never',
      summary: 'The changes in the workspace of a run, compared with its base, until a later run works there.',
      params,
      answer: diff,
      isCostly: true,
      handle: async (project, asked) => {
        const run = await findRun(project, asked.params.run);
        const latest = await project.tables.runs.latestOfIssue(run);
        return latest?.runId === run.runId ? project.diff(run.issueId) : laterRunWorked;
      },
    }),
  ];
}

const laterRunWorked: Diff = {
  base: null,
  head: null,
  branch: null,
  files: [],
  is_cut: false,
  why_none: 'A later run has worked in this workspace. The diff of the issue shows the current changes.',
};

/** Finds a run by its id, the newest run of an issue by the issue's name, or the only run whose id begins like this. */
async function findRun({ tables: { runs }, id }: ApiProject, reference: string): Promise<RunRecord> {
  const exact = await runs.read(reference);
  if (exact !== null && exact.project === id) return exact;
  const ofIssue = await runs.latestNamed(id, reference);
  if (ofIssue !== null) return ofIssue;
  const recent = reference === '' ? [] : await runs.list(id, { limit: runsSearched });
  const begun = recent.filter(({ runId }) => runId.startsWith(reference.toLowerCase()));
  const [found] = begun;
  if (begun.length > 1) {
    throw new BatonError('run_not_found', `"${reference}" matches ${begun.length} runs.`, {
      nextStep: 'Write more characters of the id.',
      details: { runs: begun.map(({ runId }) => runId) },
    });
  }
  if (found !== undefined) return found;
  throw new BatonError('run_not_found', `No run has the id "${reference}", and no issue of that name has a run.`);
}

function placeOf({ seq, runId }: RunRecord): { seq: number; runId: string } {
  return { seq, runId };
}

/** How many pieces of prompts are read. The first ones matter most, and each costs a search in a file. */
const mostPieces = 40;
const bytesPerPiece = 1024 * 1024;

const promptPiece = z.object({
  turn: z.int().nonnegative(),
  parts: z.array(z.object({ text: z.string(), is_untrusted: z.boolean() })),
});

/** The prompts of a run, turn by turn; empty for a run from before prompts were recorded. */
async function readPrompt({ tables, transcripts }: ApiProject, runId: string): Promise<Prompt> {
  const lines = await tables.runEvents.named(runId, ['turn_prompt'], { from: 'first', limit: mostPieces });
  const turns: Prompt['turns'] = [];
  for (const { seq } of lines) {
    const span = { from: seq, to: seq, mostBytes: bytesPerPiece, keeps: 'first' } as const;
    const [event] = (await transcriptEvents(transcripts, runId, span)).events;
    if (event !== undefined) addPiece(turns, event);
  }
  return { turns };
}

/** A long prompt is split over several consecutive events. */
function addPiece(turns: Prompt['turns'], { at, payload }: TranscriptEvent): void {
  const piece = promptPiece.safeParse(payload);
  if (!piece.success) return;
  const { turn, parts } = piece.data;
  const last = turns.at(-1);
  if (last?.turn !== turn) {
    turns.push({ turn, at: certainTime(at), parts });
    return;
  }
  for (const part of parts) {
    const before = last.parts.at(-1);
    if (before?.is_untrusted === part.is_untrusted) before.text += part.text;
    else last.parts.push(part);
  }
}
