import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import type { Run } from '../../../src/client/schema/run.ts';
import { type Problem, projectPath, read } from '../../data/connection/api.ts';
import { ProblemLine } from '../shared/problem-line.tsx';

interface IssueRuns {
  /** The newest first. */
  readonly runs: readonly Run[];
  /** The button that reads older runs; null if there are none left. */
  readonly more: VNode | null;
}

const pageSize = 100;

/** The runs of an issue: those that come with it, and the older ones on request. */
export function useIssueRuns(project: string, issue: IssueDetail): IssueRuns {
  const older = useSignal<readonly Run[]>([]);
  const next = useSignal<string | null>('');
  const problem = useSignal<Problem | null>(null);
  const known = new Set(issue.runs.map(({ run_id }) => run_id));
  const runs = [...issue.runs, ...older.value.filter(({ run_id }) => !known.has(run_id))];
  const readMore = async (): Promise<void> => {
    const cursor = next.peek();
    if (cursor === null) return;
    const query = new URLSearchParams({
      issue: issue.id,
      limit: String(pageSize),
      ...(cursor === '' ? {} : { cursor }),
    });
    const answer = await read<{ readonly runs: readonly Run[]; readonly next: string | null }>(
      `${projectPath(project, 'runs')}?${query}`,
    );
    problem.value = 'problem' in answer ? answer.problem : null;
    if ('problem' in answer) return;
    older.value = [...older.peek(), ...answer.value.runs];
    next.value = answer.value.next;
  };
  const left = issue.usage.runs - runs.length;
  const more =
    left <= 0 || next.value === null ? null : (
      <>
        {problem.value !== null && <ProblemLine problem={problem.value} />}
        <button type="button" class="quiet" onClick={() => void readMore()}>
          Show older runs: {left} left
        </button>
      </>
    );
  return { runs, more };
}
