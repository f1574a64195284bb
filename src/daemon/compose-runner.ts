import { steersBaton } from '../core/issue/steering-labels.ts';
import type { Logger } from '../core/logger.ts';
import type { Settings } from '../core/settings.ts';
import type { ToolHost } from '../core/tool-set.ts';
import { createPeerFinder } from '../process/sockets/socket-peer.ts';
import { createRunner } from '../runner/run-issue.ts';
import type { RunnerParts } from '../runner/run-session.ts';
import { createAccessTokens } from '../server/access-tokens.ts';
import { openListener } from '../server/listener.ts';
import { createToolHost } from '../server/tool-host.ts';
import { commentsSince } from '../tools/comments-since.ts';
import { schemaProblem } from '../tools/phase-tools.ts';
import { openToolSet } from '../tools/registry.ts';
import type { TextTrust } from '../tools/tool.ts';
import type { Tracker } from '../tracker/tracker.ts';
import { createAgent } from './adapters.ts';
import type { OpenedIsolation } from './compose-isolation.ts';
import type { Surroundings } from './surroundings.ts';

const beforeRun = { job: 'run', cause: 'revalidation' } as const;

export interface RunnerComposition extends Pick<RunnerParts, 'workspacesFor' | 'checkoutFor' | 'prove' | 'toolHost'> {
  readonly process: Parameters<typeof createAgent>[2];
  readonly isolation: OpenedIsolation;
  readonly trackerFor: (settings: Settings) => Tracker;
  readonly trustFor: (settings: Settings) => TextTrust;
  readonly logger: Logger;
}

/** Creates the runner of single runs, with the agents, workspaces and tools that its settings name. */
export function composeRunner(
  { process, isolation, trackerFor, trustFor, workspacesFor, checkoutFor, prove, toolHost, logger }: RunnerComposition,
  surroundings: Surroundings,
): ReturnType<typeof createRunner> {
  const { clock, chance } = surroundings;
  const parts = { clock, chance };
  return createRunner({
    ...parts,
    logger,
    workspacesFor,
    ...(checkoutFor === undefined ? {} : { checkoutFor }),
    ...(prove === undefined ? {} : { prove }),
    toolHost,
    schemaProblem,
    agentFor: (wanted, account) => createAgent(wanted, account, process, isolation.isolationFor(wanted), surroundings),
    toolSetFor: (wanted, run) =>
      openToolSet({
        ...run,
        ...parts,
        tracker: trackerFor(wanted),
        trustedAuthors: wanted.tracker.trustedAuthors,
        trust: trustFor(wanted),
        steers: steersBaton(wanted),
      }),
    vouched: async (wanted, issue, signal) => {
      await isolation.readGitAgain(wanted);
      return trustFor(wanted).ofIssue(issue, { signal, caller: beforeRun });
    },
    readComments: (wanted, about, signal) => {
      const { trustedAuthors } = wanted.tracker;
      return commentsSince(
        { tracker: trackerFor(wanted), trust: trustFor(wanted), trustedAuthors, clock },
        about,
        signal,
      );
    },
  });
}

/** Opens the HTTP endpoint of the agents' tools: on this machine only, with one token per run. */
export async function openTools(
  opened: AsyncDisposableStack,
  daemonId: string,
  logger: Logger,
  { clock, chance, uid }: Surroundings,
): Promise<ToolHost> {
  const parts = { clock, chance };
  const findPeer = createPeerFinder({ daemonIds: new Set([daemonId]), uid, clock });
  const listener = opened.use(await openListener({ host: '127.0.0.1', port: 0, logger, ...parts }));
  return createToolHost({ listener, tokens: createAccessTokens(), findPeer, ...parts });
}
