import { send } from '../connection/actions.ts';
import { tellNotice } from '../page/notices.ts';
import { sentences } from '../text/words.ts';
import type { Board } from './board.ts';

interface Wish {
  readonly project: string;
  readonly issues: readonly { readonly id: string; readonly identifier: string }[];
}

/** Moves issues: each is shown at its target at once, and back in its place with the reason when the daemon refuses. */
export async function moveIssues(board: Board, { project, issues }: Wish, to: string): Promise<void> {
  const moved = issues.map((issue) => ({ issue, takeBack: board.show(issue.id, to) }));
  const told = await Promise.all(
    moved.map(async ({ issue, takeBack }) => {
      const answer = await send(project, { kind: 'issue_move', issue: issue.id, to });
      const why = whyNot(answer);
      if (why !== null) takeBack();
      return why;
    }),
  );
  tellOutcome(told, issues.length, `moved to ${to}`);
}

/** Does the same to several issues. */
export async function actOnIssues({ project, issues }: Wish, kind: 'issue_hold' | 'issue_release'): Promise<void> {
  const told = await Promise.all(issues.map(async ({ id }) => whyNot(await send(project, { kind, issue: id }))));
  tellOutcome(told, issues.length, kind === 'issue_hold' ? 'held' : 'released');
}

function whyNot(answer: Awaited<ReturnType<typeof send>>): string | null {
  if ('problem' in answer) return sentences(answer.problem.message, answer.problem.nextStep);
  return answer.value.status === 'refused' ? sentences(answer.value.text) : null;
}

const mostReasons = 4;

function tellOutcome(told: readonly (string | null)[], count: number, done: string): void {
  const reasons = told.filter((why) => why !== null);
  const isRefusal = reasons.length > 0;
  if (!isRefusal) tellNotice({ text: count === 1 ? `It is ${done}.` : `${count} issues are ${done}.`, isRefusal });
  if (!isRefusal) return;
  const start = count === 1 ? 'Refused: ' : `${count - reasons.length} ${done}, ${reasons.length} refused:\n`;
  const more = reasons.length > mostReasons ? `\nand ${reasons.length - mostReasons} more` : '';
  tellNotice({ text: start + reasons.slice(0, mostReasons).join('\n') + more, isRefusal });
}
