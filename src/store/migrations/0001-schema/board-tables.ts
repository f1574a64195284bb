import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import { countedTableWith, makeIndex, tableWith } from '../make-table.ts';
import { issue } from './shared-columns.ts';

export async function makeBoard(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await tableWith(db, types, 'board_counters', { project: 'text', last_number: 'integer' })
    .addPrimaryKeyConstraint('board_counters_pkey', ['project'])
    .execute();
  await tableWith(db, types, 'board_issues', {
    project: 'text',
    id: 'text',
    identifier: 'text',
    title: 'text',
    description: 'text?',
    status: 'text',
    priority: 'integer?',
    dispatch_rank: 'integer',
    labels_json: 'text',
    parent_id: 'text?',
    branch: 'text?',
    url: 'text?',
    client_key: 'text?',
    created_at: 'integer',
    updated_at: 'integer',
  })
    .addPrimaryKeyConstraint('board_issues_pkey', ['project', 'id'])
    .addUniqueConstraint('board_issues_identifier', ['project', 'identifier'])
    .addUniqueConstraint('board_issues_client_key', ['project', 'client_key'])
    // Deferred, so that issues that name each other may be brought in together in any order.
    .addForeignKeyConstraint(
      'board_issues_parent',
      ['project', 'parent_id'],
      'board_issues',
      ['project', 'id'],
      (constraint) => constraint.deferrable().initiallyDeferred(),
    )
    .execute();
  await makeIndex(db, 'board_issues_dispatch', 'board_issues', [
    'project',
    'status',
    'dispatch_rank',
    'created_at',
    'identifier',
  ]);
  await makeIndex(db, 'board_issues_page', 'board_issues', ['project', 'status', 'updated_at', 'id']);
  await db.schema
    .createIndex('board_issues_children')
    .on('board_issues')
    .columns(['project', 'parent_id', 'created_at'])
    .where(sql.ref('parent_id'), 'is not', null)
    .execute();

  await tableWith(db, types, 'board_blockers', { ...issue, blocker_id: 'text' })
    .addPrimaryKeyConstraint('board_blockers_pkey', ['project', 'issue_id', 'blocker_id'])
    .addForeignKeyConstraint('board_blockers_issue', ['project', 'issue_id'], 'board_issues', ['project', 'id'])
    .addForeignKeyConstraint('board_blockers_blocker', ['project', 'blocker_id'], 'board_issues', ['project', 'id'])
    .execute();
  await makeIndex(db, 'board_blockers_blocked', 'board_blockers', ['project', 'blocker_id']);

  await countedTableWith(db, types, 'board_comments', {
    ...issue,
    author_json: 'text',
    body: 'text',
    at: 'integer',
  })
    .addForeignKeyConstraint('board_comments_issue', ['project', 'issue_id'], 'board_issues', ['project', 'id'])
    .execute();
  await makeIndex(db, 'board_comments_of_issue', 'board_comments', ['project', 'issue_id', 'seq']);

  await countedTableWith(db, types, 'board_history', {
    ...issue,
    at: 'integer',
    author_json: 'text',
    field: 'text',
    from_json: 'text?',
    to_json: 'text?',
    reason: 'text?',
  })
    .addForeignKeyConstraint('board_history_issue', ['project', 'issue_id'], 'board_issues', ['project', 'id'])
    .execute();
  await makeIndex(db, 'board_history_of_issue', 'board_history', ['project', 'issue_id', 'seq']);
}
