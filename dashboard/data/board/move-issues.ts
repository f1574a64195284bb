import { send } from '../connection/actions.ts';
import { showNotice } from '../page/notices.ts';
import { countWords, plainWords, sentences } from '../text/words.ts';
import type { Board } from './board.ts';

interface Batch {
  readonly project: string;
  readonly issues: readonly { readonly id: string; readonly identifier: string }[];
}

/** Moves issues: each is shown at its target at once, and back in its place with the reason when the daemon refuses. */
export async function moveIssues(board: Board, { project, issues }: Batch, to: string): Promise<void> {
  const moved = issues.map((issue) => ({ issue, undo: board.show(issue.id, to) }));
  const refusals = await Promise.all(
    moved.map(async ({ issue, undo }) => {
      const answer = await send(project, { kind: 'issue_move', issue: issue.id, to });
      const why = whyNot(answer);
      if (why !== null) undo();
      return why;
    }),
  );
  showOutcome(refusals, issues.length, `moved to ${plainWords(to)}`);
}

/** Holds or releases several issues. */
export async function actOnIssues({ project, issues }: Batch, kind: 'issue_hold' | 'issue_release'): Promise<void> {
  const refusals = await Promise.all(issues.map(async ({ id }) => whyNot(await send(project, { kind, issue: id }))));
  showOutcome(refusals, issues.length, kind === 'issue_hold' ? 'held' : 'released');
}

function whyNot(answer: Awaited<ReturnType<typeof send>>): string | null {
  if ('problem' in answer) return sentences(answer.problem.message, answer.problem.nextStep);
  return answer.value.status === 'refused' ? sentences(answer.value.text) : null;
}

const mostReasons = 4;

function showOutcome(refusals: readonly (string | null)[], count: number, done: string): void {
  const reasons = refusals.filter((why) => why !== null);
  const isRefusal = reasons.length > 0;
  if (!isRefusal) showNotice({ text: `${countWords(count, 'issue', 'issues')} ${done}.`, isRefusal });
  if (!isRefusal) return;
  const start = count === 1 ? 'Refused: ' : `${count - reasons.length} ${done}, ${reasons.length} refused:\n`;
  const more = reasons.length > mostReasons ? `\nand ${reasons.length - mostReasons} more` : '';
  showNotice({ text: start + reasons.slice(0, mostReasons).join('\n') + more, isRefusal });
}
