import type { Database } from './schema.ts';

/** A table of the store and its key columns. */
export interface TableOfStore {
  readonly name: Exclude<keyof Database, 'baton_migrations'>;
  readonly key: readonly string[];
}

/** Every table; referenced tables come before those that refer to them. A test compares it with the schema. */
export const allTables: readonly TableOfStore[] = [
  { name: 'projects', key: ['id'] },
  { name: 'board_counters', key: ['project'] },
  { name: 'board_issues', key: ['project', 'id'] },
  { name: 'board_blockers', key: ['project', 'issue_id', 'blocker_id'] },
  { name: 'board_comments', key: ['seq'] },
  { name: 'board_history', key: ['seq'] },
  { name: 'claims', key: ['project', 'issue_id'] },
  { name: 'runs', key: ['run_id'] },
  { name: 'prompt_runs', key: ['run_id'] },
  { name: 'run_events', key: ['run_id', 'seq'] },
  { name: 'questions', key: ['id'] },
  { name: 'messages', key: ['seq'] },
  { name: 'accounts', key: ['backend', 'name'] },
  { name: 'retries', key: ['project', 'issue_id'] },
  { name: 'held', key: ['project', 'issue_id'] },
  { name: 'pins', key: ['project', 'issue_id'] },
  { name: 'run_texts', key: ['project', 'kind', 'text_id'] },
  { name: 'counters', key: ['project', 'issue_id', 'name'] },
  { name: 'job_timers', key: ['project', 'job', 'owner'] },
  {
    name: 'request_counts',
    key: ['bucket', 'begins_at', 'provider', 'route', 'method', 'status_class', 'job', 'cause'],
  },
  { name: 'usage', key: ['project', 'day', 'issue_id', 'role'] },
  { name: 'commands', key: ['seq'] },
  { name: 'notifications', key: ['project', 'cause', 'target'] },
  { name: 'finished_issues', key: ['project', 'issue_id'] },
  { name: 'pull_requests', key: ['project', 'number'] },
  { name: 'pull_rounds', key: ['project', 'number', 'round'] },
  { name: 'checks', key: ['project', 'number', 'commit_id', 'name'] },
  { name: 'phases', key: ['project', 'issue_id'] },
  { name: 'artifacts', key: ['project', 'issue_id', 'phase', 'version'] },
  { name: 'completion_claims', key: ['id'] },
  { name: 'learnings', key: ['project', 'number'] },
  { name: 'learning_offers', key: ['project', 'issue_id', 'number'] },
  { name: 'plans', key: ['project', 'issue_id'] },
  { name: 'plan_children', key: ['project', 'issue_id'] },
  { name: 'tasks', key: ['project', 'id'] },
  { name: 'verdicts', key: ['project', 'number', 'commit_id', 'place'] },
];

/** Whether the key is a column that the engine numbers itself. */
export function countsBySeq(table: TableOfStore): boolean {
  return table.key.length === 1 && table.key[0] === 'seq';
}
