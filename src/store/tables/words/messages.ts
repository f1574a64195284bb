import type { Kysely, Selectable } from 'kysely';
import type { Message } from '../../../core/command/message.ts';
import type { IssueKey } from '../../issue-key.ts';
import { authorFrom } from '../../json.ts';
import type { Database } from '../../schema.ts';
import { changedOne, changedRows, countIn, inParts, ofIssue } from '../statements.ts';

type Place = 'path' | 'line' | 'commit';

export type MessageDraft = Omit<Message, Place> & Partial<Pick<Message, Place>>;

export interface StoredMessage extends Message {
  /** The last run whose agent received it. */
  readonly givenTo: string | null;
  /** When a run that had received it ended well; null: the next run gets it, again where one had it before. */
  readonly settledAt: number | null;
}

/**
 * Words of people, and of Baton about a change, for the agents of an issue. What must hold: a message waits until a run
 * whose agent received it ended well. So a crash at any moment repeats it and never loses it.
 */
export function messagesTable(db: Kysely<Database>) {
  const old = (settledBefore: number) => db.selectFrom('messages').where('settled_at', '<', settledBefore);
  const all = () => db.selectFrom('messages').selectAll();
  const waitingOnes = () => db.updateTable('messages').where('settled_at', 'is', null);
  return {
    /** Leaves a message once: not again with the same id, nor with the same words while no agent has received those. */
    leave: async ({ project, issueId }: IssueKey, draft: MessageDraft): Promise<void> => {
      const { kind, body, path = null, line = null, commit = null } = draft;
      const author = JSON.stringify(draft.author);
      const unheard = await all().where(ofIssue({ project, issueId })).where('given_to', 'is', null).execute();
      const isSaid = unheard.some(
        (row) =>
          [row.kind, row.author_json, row.body, row.path, row.line, row.commit].join('\0') ===
          [kind, author, body, path, line, commit].join('\0'),
      );
      if (isSaid) return;
      await db
        .insertInto('messages')
        .values({
          id: draft.id,
          project,
          issue_id: issueId,
          at: draft.at,
          kind,
          author_json: author,
          body,
          path,
          line,
          commit,
        })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    },

    /** Removes a message that no agent has received; false when there is none. */
    takeBack: (id: string): Promise<boolean> =>
      changedOne(db.deleteFrom('messages').where('id', '=', id).where('given_to', 'is', null)),

    /** Those for the next run, the oldest first. */
    waiting: async (key: IssueKey, limit: number): Promise<readonly StoredMessage[]> => {
      const found = all().where(ofIssue(key)).where('settled_at', 'is', null);
      return (await found.orderBy('seq').limit(limit).execute()).map(messageFrom);
    },

    /** The newest ones, the oldest of them first. */
    list: async (key: IssueKey, limit: number): Promise<readonly StoredMessage[]> => {
      const rows = await all().where(ofIssue(key)).orderBy('seq', 'desc').limit(limit).execute();
      return rows.map(messageFrom).toReversed();
    },

    /** The agent of this run received these. */
    give: async (ids: readonly string[], runId: string): Promise<void> => {
      for (const some of inParts(ids)) await waitingOnes().set({ given_to: runId }).where('id', 'in', some).execute();
    },

    /** This run ended well: what its agent received waits no more. Gives how many. */
    settle: (key: IssueKey, runId: string, at: number): Promise<number> =>
      changedRows(waitingOnes().set({ settled_at: at }).where(ofIssue(key)).where('given_to', '=', runId)),

    /** Removes at most `limit` that were settled before this; gives how many. One that waits stays, however old. */
    prune: (settledBefore: number, limit: number): Promise<number> =>
      changedRows(
        db
          .deleteFrom('messages')
          .where('seq', 'in', old(settledBefore).select('seq').orderBy('settled_at').limit(limit)),
      ),

    countOld: (settledBefore: number): Promise<number> => countIn(old(settledBefore)),
  };
}

function messageFrom(row: Selectable<Database['messages']>): StoredMessage {
  const { id, at, kind, body, path, line, commit } = row;
  const author = authorFrom(row.author_json);
  return { id, at, kind, author, body, path, line, commit, givenTo: row.given_to, settledAt: row.settled_at };
}
