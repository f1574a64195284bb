import type { IssuesProposal } from '../../../../src/core/task/proposal.ts';
import type { TaskStatus } from '../../../../src/core/task/task.ts';
import type { World } from '../../world.ts';

export interface TaskRow {
  readonly id: string;
  readonly kind: string;
  readonly status: TaskStatus;
  readonly proposal_json: string | null;
  readonly author_json: string;
  readonly created_at: number;
  readonly changed_at: number;
}

/** All tasks, the newest last. */
export function taskRows({ memory }: World): readonly TaskRow[] {
  return memory.look<TaskRow>(
    'select id, kind, status, proposal_json, author_json, created_at, changed_at from tasks order by rowid',
  );
}

export function proposedIn({ proposal_json }: TaskRow): IssuesProposal['issues'] {
  return proposal_json === null ? [] : (JSON.parse(proposal_json) as IssuesProposal).issues;
}
