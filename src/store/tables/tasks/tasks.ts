import type { Kysely } from 'kysely';
import type { Proposal } from '../../../core/task/proposal.ts';
import { scansToRead } from '../../../core/task/scan.ts';
import { type Task, type TaskError, type TaskKind, type TaskStatus, taskKindOf } from '../../../core/task/task.ts';
import type { Engine } from '../../engine.ts';
import { authorFrom, fromJsonText, recordIn, textIn, toJsonText, valueFromText } from '../../json.ts';
import type { Database } from '../../schema.ts';
import { changedOne, changedRows, countIn, inParts, repeatedReads } from '../statements.ts';

/** A task by its id, in its project. */
export interface TaskKey {
  readonly project: string;
  readonly taskId: string;
}

/** Tasks. A status changes only along the table of `core/task/task.ts`, also when two daemons write at the same time. */
export function tasksTable(db: Kysely<Database>, engine: Engine) {
  const lists = repeatedReads<readonly Task[]>(engine, 'tasks');
  const one = ({ project, taskId }: TaskKey, ...from: readonly TaskStatus[]) =>
    db.updateTable('tasks').where('project', '=', project).where('id', '=', taskId).where('status', 'in', from);
  // The latest of these kinds stay, however old: they say when the next one may begin, and since when lessons count.
  const old = (overBefore: number) =>
    db
      .selectFrom('tasks')
      .where('status', 'in', ['accepted', 'refused', 'failed'])
      .where('changed_at', '<', overBefore)
      .where((eb) =>
        eb.or([
          eb('kind', 'not in', ['scan', 'learn']),
          eb(
            eb
              .selectFrom('tasks as later')
              .whereRef('later.project', '=', 'tasks.project')
              .whereRef('later.kind', '=', 'tasks.kind')
              .whereRef('later.created_at', '>', 'tasks.created_at')
              .select(({ fn }) => fn.countAll<number>().as('count')),
            '>=',
            scansToRead,
          ),
        ]),
      );
  return {
    /** False: there is one with this id already; it stays as it is. */
    add: (project: string, task: Pick<Task, 'id' | 'kind' | 'title' | 'text' | 'author' | 'createdAt'>) =>
      changedOne(
        db
          .insertInto('tasks')
          .values({
            project,
            id: task.id,
            kind: task.kind,
            title: task.title,
            body: task.text,
            status: 'waiting',
            author_json: JSON.stringify(task.author),
            created_at: task.createdAt,
            changed_at: task.createdAt,
          })
          .onConflict((conflict) => conflict.columns(['project', 'id']).doNothing()),
      ),

    /** What its agent proposes. False: it has proposed before, or a person has decided. */
    propose: (key: TaskKey, proposal: Proposal | null, at: number): Promise<boolean> =>
      changedOne(
        one(key, 'waiting').set({
          status: 'proposed',
          proposal_json: toJsonText(proposal),
          error_json: null,
          changed_at: at,
        }),
      ),

    /** Its run ended without a proposal. */
    fail: (key: TaskKey, { code, message }: TaskError, at: number): Promise<boolean> =>
      changedOne(
        one(key, 'waiting').set({ status: 'failed', error_json: toJsonText({ code, message }), changed_at: at }),
      ),

    tryAgain: (key: TaskKey, at: number): Promise<boolean> =>
      changedOne(one(key, 'failed').set({ status: 'waiting', error_json: null, changed_at: at })),

    /** A person decides; `proposal` has what became of each part of it. */
    decide: (key: TaskKey, status: 'accepted' | 'refused', proposal: Proposal | null, at: number): Promise<boolean> =>
      changedOne(
        one(key, 'waiting', 'proposed', 'failed').set({ status, proposal_json: toJsonText(proposal), changed_at: at }),
      ),

    /** Notes what became of parts of a proposal that is still open. */
    note: (key: TaskKey, proposal: Proposal | null, at: number): Promise<boolean> =>
      changedOne(one(key, 'proposed').set({ proposal_json: toJsonText(proposal), changed_at: at })),

    read: async ({ project, taskId }: TaskKey): Promise<Task | null> => {
      const row = await db
        .selectFrom('tasks')
        .selectAll()
        .where('project', '=', project)
        .where('id', '=', taskId)
        .executeTakeFirst();
      return row === undefined ? null : taskFrom(row);
    },

    readAll: async (project: string, ids: readonly string[]): Promise<readonly Task[]> => {
      const found: Task[] = [];
      for (const part of inParts(ids)) {
        const rows = await db
          .selectFrom('tasks')
          .selectAll()
          .where('project', '=', project)
          .where('id', 'in', part)
          .execute();
        found.push(...rows.map(taskFrom));
      }
      return found;
    },

    /** The newest first; at most `limit`. */
    list: async (
      project: string,
      { kind, statuses, limit }: { kind?: TaskKind; statuses?: readonly TaskStatus[]; limit: number },
    ): Promise<readonly Task[]> => {
      // Polls ask again and again for those that wait.
      const key = JSON.stringify([project, kind, statuses, limit]);
      return lists(key, async () => {
        let query = db.selectFrom('tasks').selectAll().where('project', '=', project);
        if (kind !== undefined) query = query.where('kind', '=', kind);
        if (statuses !== undefined) query = query.where('status', 'in', statuses);
        const rows = await query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
        return rows.map(taskFrom);
      });
    },

    /** Removes at most `limit` that are over since before this; gives how many. One that waits for a person stays. */
    prune: (overBefore: number, limit: number): Promise<number> =>
      changedRows(
        db
          .deleteFrom('tasks')
          .where((eb) =>
            eb(
              eb.refTuple('project', 'id'),
              'in',
              old(overBefore).select(['project', 'id']).limit(limit).$asTuple('project', 'id'),
            ),
          ),
      ),

    countOld: (overBefore: number): Promise<number> => countIn(old(overBefore)),
  };
}

function taskFrom(row: Database['tasks']): Task {
  const { id, title, body: text, status, created_at: createdAt, changed_at: changedAt } = row;
  const { code, message } = recordIn(valueFromText(row.error_json));
  return {
    id,
    title,
    text,
    status,
    createdAt,
    changedAt,
    kind: taskKindOf(id) ?? 'intake',
    // Only this table writes it.
    proposal: fromJsonText(row.proposal_json) as Proposal | null,
    error: row.error_json === null ? null : { code: textIn(code) ?? '', message: textIn(message) ?? '' },
    author: authorFrom(row.author_json),
  };
}
