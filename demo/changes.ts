import { reviewCommand } from '../src/core/command/retry-command.ts';
import type { Logger } from '../src/core/logger.ts';
import type { OpenPull } from '../src/core/pull/open-pull.ts';
import { headVerdict, pullStatus } from '../src/core/pull/pull-request.ts';
import { connect } from '../src/daemon/connect.ts';
import type { Surroundings } from '../src/daemon/surroundings.ts';
import type { Workplace } from '../src/daemon/workplace.ts';
import type { BoardIssue } from '../src/store/tables/board-issues.ts';
import type { Board } from '../src/tracker/board/board.ts';
import { personsPart, type SendBack } from './demo-issues.ts';
import type { Here } from './issue-rows.ts';
import type { Announcement } from './lines.ts';
import type { DemoFolder } from './make-demo.ts';

/** The author of what the demo does in place of a person. */
export const personName = 'baton demo, in place of a person';

/** What a person decides about a change. */
export type Decision = { readonly kind: 'approve' | 'merge' } | ({ readonly kind: 'send_back' } & SendBack);

export interface Changes {
  decide(pull: number, decision: Decision): Promise<void>;
  hasReceived(pull: number): Promise<boolean>;
}

/** Decides about changes in place of a person, with the same commands that a person would send. */
export function changesOf({ workflow, stateDir }: DemoFolder, surroundings: Surroundings): Changes {
  // The demo counts as a person, also when an agent started it.
  const open = () => connect({ workflow, stateDir }, surroundings, { author: { kind: 'person', name: personName } });
  return {
    decide: async (pull, decision) => {
      await using connection = await open();
      // The list has the head without a look at the repository.
      const head = (await connection.project.pulls({ status: 'open', limit: 100 })).find(isThis(pull))?.head ?? '';
      const key = surroundings.chance.id();
      const request =
        decision.kind === 'send_back'
          ? {
              kind: 'pr_send_back' as const,
              note: decision.note,
              comments: decision.comments.map((each) => ({ ...each })),
            }
          : { kind: decision.kind === 'approve' ? ('pr_approve' as const) : ('pr_merge' as const) };
      await connection.project.submit({ ...request, pull, head, key });
    },
    hasReceived: async (pull) => {
      await using connection = await open();
      const { rounds } = await connection.project.pull(String(pull));
      const said = rounds[0]?.said ?? [];
      return said.length > 0 && said.every(({ status }) => status === 'delivered');
    },
  };
}

const isThis =
  (pull: number) =>
  ({ number }: { readonly number: number }): boolean =>
    number === pull;

/** The open pull requests by issue, from the store: the daemon reads their repository before it shows them. */
export async function openPulls({ store, project, workflow }: Workplace): Promise<ReadonlyMap<string, OpenPull>> {
  const open = new Map<string, OpenPull>();
  const wanted = workflow.settings.review.checks.map(({ name }) => name);
  for (const pull of await store.pullRequests.allOpen(project.id)) {
    const checks = headVerdict(pull, await store.checks.list(pull, pull.headCommit), wanted);
    const { issueId, number, headCommit, timesSentBack } = pull;
    open.set(issueId, {
      number,
      headCommit,
      timesSentBack,
      status: pullStatus(pull),
      checks,
      judge: null,
      autoMerge: null,
    });
  }
  return open;
}

export interface ShowChangesParts {
  readonly board: Pick<Board, 'list'>;
  readonly open: () => Promise<ReadonlyMap<string, OpenPull>>;
  readonly here: Here;
  /** The name of the project. */
  readonly project: string;
  /** The address of the dashboard. */
  readonly url: string;
  readonly say: (announcement: Announcement) => void;
  readonly logger: Logger;
}

/** Shows each change that waits for the person who watches, once in each round. Returns what to call after each change. */
export function showChanges({ board, open, here, project, url, say, logger }: ShowChangesParts): () => void {
  const shown = new Set<string>();
  const show = ({ identifier }: BoardIssue, number: number, round: string): void => {
    const page = `${url}/review/${encodeURIComponent(project)}/${number}`;
    const command = here(reviewCommand(identifier));
    const part = personsPart(identifier);
    const wish =
      typeof part === 'string'
        ? 'Read it, then approve and merge it.'
        : `Send it back with a comment, for example "${part.note}" Its agent gets your words.`;
    say({
      lines: [
        `${identifier} waits for your review. ${round === '1' ? wish : `The agent has changed it after your comment (round ${round}).`}`,
        `  on the dashboard: ${page}`,
        `  in another terminal: ${command}`,
      ],
      json: { identifier, review: number, page, command },
    });
  };
  const check = async (): Promise<void> => {
    const waiting = [...(await open())].filter(
      ([, { status, checks }]) => status === 'in_review' && checks !== 'waiting',
    );
    if (waiting.length === 0) return;
    const inReview = await board.list({ statuses: ['review'], labels: [], limit: 100 });
    for (const [id, { number, timesSentBack }] of waiting) {
      const issue = inReview.find((each) => each.id === id);
      const key = `${number} ${timesSentBack}`;
      if (issue === undefined || personsPart(issue.identifier) === 'merge' || shown.has(key)) continue;
      shown.add(key);
      show(issue, number, String(timesSentBack + 1));
    }
  };
  return () => void check().catch((error) => logger.warn('demo_check_failed', { error }));
}
