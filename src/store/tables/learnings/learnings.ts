import type { Kysely } from 'kysely';
import type { Learning, LearningOrigin, LearningStatus } from '../../../core/learning/learning.ts';
import type { TrialIssue } from '../../../core/learning/learning-trial.ts';
import type { Engine } from '../../engine.ts';
import type { IssueKey } from '../../issue-key.ts';
import { authorFrom, fromJsonText } from '../../json.ts';
import type { Database } from '../../schema.ts';
import { atomically, changedOne, lockedRow, repeatedReads } from '../statements.ts';
import { type FoundLesson, lessonsSince } from './lessons.ts';

export type LearningDraft = Pick<Learning, 'text' | 'origins' | 'author' | 'status'> & {
  readonly at: number;
  /** The same draft, added again after a crash, is the same learning. */
  readonly key: string;
};

/** What earlier work taught, which issues got it, and what may teach more. Nothing is ever removed: a person may ask why. */
export function learningsTable(db: Kysely<Database>, engine: Engine) {
  const lists = repeatedReads<readonly Learning[]>(engine, 'learnings');
  const one = (project: string, id: string) =>
    db.updateTable('learnings').where('project', '=', project).where('number', '=', numberOf(id));
  return {
    /** The id of the new one, or of the one with this key. */
    add: (project: string, { text, origins, author, status, at, key }: LearningDraft): Promise<string> =>
      atomically(db, async (within) => {
        // One after the other: two daemons must not take the same number.
        await lockedRow(within, engine.name, within.selectFrom('projects').select('id').where('id', '=', project));
        const all = within.selectFrom('learnings').where('project', '=', project);
        const known = await all.select('number').where('client_key', '=', key).executeTakeFirst();
        if (known !== undefined) return idOf(known.number);
        const last = await all.select((eb) => eb.fn.max('number').as('number')).executeTakeFirst();
        const number = Number(last?.number ?? 0) + 1;
        await within
          .insertInto('learnings')
          .values({
            project,
            number,
            body: text,
            status,
            client_key: key,
            created_at: at,
            changed_at: at,
            origins_json: JSON.stringify(origins),
            author_json: JSON.stringify(author),
          })
          .execute();
        return idOf(number);
      }),

    /** False: there is none, or its status is not one of `from` any more. */
    change: (
      project: string,
      id: string,
      change: { readonly status: LearningStatus; readonly text?: string; readonly at: number },
      from: readonly LearningStatus[],
    ): Promise<boolean> =>
      changedOne(
        one(project, id)
          .where('status', 'in', [...from])
          .set({
            status: change.status,
            changed_at: change.at,
            ...(change.text === undefined ? {} : { body: change.text }),
          }),
      ),

    /** All of them, the newest first. */
    list: (project: string): Promise<readonly Learning[]> =>
      lists(project, async () => {
        const rows = await db
          .selectFrom('learnings')
          .selectAll()
          .where('project', '=', project)
          .orderBy('number', 'desc')
          .execute();
        return rows.map(learningFrom);
      }),

    /** The agent of this issue gets these. */
    offer: async ({ project, issueId }: IssueKey, ids: readonly string[], at: number): Promise<void> => {
      if (ids.length === 0) return;
      await db
        .insertInto('learning_offers')
        .values(ids.map((id) => ({ project, issue_id: issueId, number: numberOf(id), at })))
        .onConflict((conflict) => conflict.columns(['project', 'issue_id', 'number']).doNothing())
        .execute();
    },

    /** The ids of those that agents of this issue got. */
    offeredTo: async ({ project, issueId }: IssueKey): Promise<readonly string[]> => {
      const rows = await db
        .selectFrom('learning_offers')
        .select('number')
        .where('project', '=', project)
        .where('issue_id', '=', issueId)
        .orderBy('number')
        .execute();
      return rows.map(({ number }) => idOf(number));
    },

    /** The issues that say something about a learning since its trial began. */
    trialIssues: (project: string, id: string, since: number): Promise<readonly TrialIssue[]> =>
      trialIssues(db, project, numberOf(id), since),

    /** What happened since then, the oldest first; at most `limit` of each kind. */
    lessons: (project: string, since: number, limit: number): Promise<readonly FoundLesson[]> =>
      lessonsSince(db, project, since, limit),
  };
}

const idOf = (number: number): string => `L${number}`;

/** Zero for what is no id: there is no such learning. */
function numberOf(id: string): number {
  const [, digits = '0'] = /^L(\d{1,9})$/i.exec(id.trim()) ?? [];
  return Number(digits);
}

function learningFrom(row: Database['learnings']): Learning {
  const { number, body: text, status, created_at: createdAt, changed_at: changedAt } = row;
  return {
    id: idOf(number),
    text,
    status,
    createdAt,
    changedAt,
    author: authorFrom(row.author_json),
    // Only `add` writes it.
    origins: (fromJsonText(row.origins_json) ?? []) as readonly LearningOrigin[],
  };
}

/** Of issues that handed something in since then, and had no run before. */
async function trialIssues(
  db: Kysely<Database>,
  project: string,
  number: number,
  since: number,
): Promise<readonly TrialIssue[]> {
  const changes = await db
    .selectFrom('pull_rounds')
    .innerJoin('pull_requests', (join) =>
      join
        .onRef('pull_requests.project', '=', 'pull_rounds.project')
        .onRef('pull_requests.number', '=', 'pull_rounds.number'),
    )
    .select(['pull_requests.issue_id as issueId', 'pull_rounds.sent_back_at as sentBackAt'])
    .where('pull_rounds.project', '=', project)
    .where('pull_rounds.at', '>=', since)
    .execute();
  const artifacts = await db
    .selectFrom('completion_claims')
    .select(['issue_id as issueId', 'state'])
    .where('project', '=', project)
    .where('at', '>=', since)
    .where('state', 'in', ['advanced', 'revise'])
    .execute();
  const sentBack = new Map<string, boolean>();
  const note = (issueId: string, isSentBack: boolean): void => {
    sentBack.set(issueId, isSentBack || sentBack.get(issueId) === true);
  };
  for (const { issueId, sentBackAt } of changes) note(issueId, sentBackAt !== null);
  for (const { issueId, state } of artifacts) note(issueId, state === 'revise');
  const [older, offered] = [await beganBefore(db, project, since), await offeredIssues(db, project, number)];
  return [...sentBack]
    .filter(([issueId]) => !older.has(issueId))
    .map(([issueId, isSentBack]) => ({ issueId, isSentBack, hadIt: offered.has(issueId) }));
}

/** The issues whose first run began before this. */
async function beganBefore(db: Kysely<Database>, project: string, since: number): Promise<ReadonlySet<string>> {
  const found = await Promise.all(
    (['runs', 'prompt_runs'] as const).map((table) =>
      db
        .selectFrom(table)
        .select('issue_id as issueId')
        .distinct()
        .where('project', '=', project)
        .where('started_at', '<', since)
        .execute(),
    ),
  );
  return new Set(found.flat().map(({ issueId }) => issueId));
}

async function offeredIssues(db: Kysely<Database>, project: string, number: number): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('learning_offers')
    .select('issue_id as issueId')
    .where('project', '=', project)
    .where('number', '=', number)
    .execute();
  return new Set(rows.map(({ issueId }) => issueId));
}
