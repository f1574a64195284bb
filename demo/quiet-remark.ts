import type { IssueRow } from './issue-rows.ts';
import type { Announcement } from './lines.ts';

/**
 * Says once when neither an agent nor the demo has anything to do any more: what waits for the person who watches, or
 * that all is done. It says so again when other issues wait.
 */
export function quietRemark(
  demoDecides: (identifier: string) => boolean,
): (rows: readonly IssueRow[]) => Announcement | null {
  let said = '';
  return (rows) => {
    const isQuiet = ({ status, identifier }: IssueRow): boolean =>
      quiet.has(status) && !(status === 'review' && demoDecides(identifier));
    if (!rows.every(isQuiet)) return null;
    const waiting = rows
      .filter(({ status }) => status !== 'done' && status !== 'backlog')
      .map(({ identifier }) => identifier);
    const news = `${rows.length} ${waiting.join(' ')}`;
    if (news === said) return null;
    said = news;
    const what =
      waiting.length === 0
        ? `All ${rows.filter(({ status }) => status === 'done').length} issues are done.`
        : `The agents are waiting: ${waiting.join(', ')} ${waiting.length === 1 ? 'needs' : 'need'} you.`;
    return {
      lines: [`${what} You can file issues of your own on the dashboard. Ctrl-C stops the demo.`],
      json: { waits_for_you: waiting },
    };
  };
}

const quiet: ReadonlySet<IssueRow['status']> = new Set(['asking', 'held', 'review', 'done', 'backlog']);
