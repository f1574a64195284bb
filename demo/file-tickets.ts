import type { Board } from '../src/tracker/board/board.ts';
import { demoTickets } from './demo-tickets.ts';

const author = { kind: 'person', name: 'baton demo' } as const;

/** Files the tickets on the board. Each has a key, so that a demo that goes on files none of them twice. */
export async function fileTickets(board: Board): Promise<void> {
  const ids = new Map<string, string>();
  for (const { identifier, title, description, priority, blockedBy, script } of demoTickets) {
    const { issue } = await board.create(
      {
        title,
        priority,
        description: `${description}\n\n\`\`\`rehearsal\n${script.join('\n')}\n\`\`\``,
        blockerIds: blockedBy.map((blocker) => ids.get(blocker) ?? blocker),
        clientKey: identifier,
      },
      { author },
    );
    ids.set(identifier, issue.id);
  }
}
