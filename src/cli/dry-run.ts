import path from 'node:path';
import type { DispatchDecision } from '../core/dispatch-plan.ts';
import { harmlessLine } from '../core/harmless-line.ts';
import type { Logger } from '../core/logger.ts';
import type { ClaimBeside } from '../orchestrator/outside-gates.ts';
import { createDaemon } from './daemon.ts';
import { exitCodes } from './exit-codes.ts';
import { jsonLine } from './json-line.ts';
import { type StartFlags, trialOf } from './start.ts';
import type { Surroundings } from './surroundings.ts';
import { daemonStatus } from './workplace.ts';

/** `baton start --dry-run`: what a start would begin with, and why not with the rest. Nothing is started. */
export async function dryRun(workflow: string, flags: StartFlags, surroundings: Surroundings): Promise<number> {
  const workflowPath = path.resolve(surroundings.cwd, workflow);
  const { stateDir } = flags;
  const options = { workflowPath, stateDir, trial: trialOf(flags), role: 'visitor', logger: quiet } as const;
  await using visitor = await createDaemon(options, surroundings);
  const status = await daemonStatus({ workflow, ...(stateDir === undefined ? {} : { stateDir }) }, surroundings);
  const plan = await visitor.orchestrator.preview(claimsIn(status));
  surroundings.stdout.write(flags.json ? jsonLine({ plan: plan.map(presented) }) : text(plan));
  return exitCodes.ok;
}

/** What is wrong with the file ends the command and is told there; a preview has nothing to log. */
const quiet: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, child: () => quiet };

/** What a daemon that runs already has claimed, from its status; what it holds is in the store. */
function claimsIn(status: unknown): ClaimBeside[] {
  if (status === null) return [];
  // Our own daemon of the same version made it.
  const { running, retrying } = status as Record<
    'running' | 'retrying',
    readonly { issue_id: string; state: string }[]
  >;
  return [
    ...running.map(({ issue_id, state }) => ({
      issueId: issue_id,
      slotInState: state,
      why: 'an agent is running on it',
    })),
    ...retrying.map(({ issue_id }) => ({ issueId: issue_id, slotInState: null, why: 'it waits for its next look' })),
  ];
}

function text(plan: readonly DispatchDecision[]): string {
  if (plan.length === 0) return 'No ticket is in an active state; nothing would start.\n';
  return plan
    .map(({ issue, reason }) => {
      const name = harmlessLine(`${issue.identifier}  ${issue.title}`);
      return reason === null ? `would start  ${name}\n` : `would wait   ${name}: ${harmlessLine(reason.text)}\n`;
    })
    .join('');
}

function presented({ issue, reason }: DispatchDecision): Record<string, unknown> {
  const { id, identifier, title, state } = issue;
  return {
    issue_id: id,
    issue_identifier: identifier,
    title,
    state,
    starts: reason === null,
    code: reason?.code ?? null,
    reason: reason?.text ?? null,
  };
}
