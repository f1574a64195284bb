import path from 'node:path';
import type { DispatchDecision } from '../core/dispatch-plan.ts';
import { harmlessLine } from '../core/harmless-line.ts';
import type { Logger } from '../core/logger.ts';
import { createDaemon } from './daemon.ts';
import { exitCodes } from './exit-codes.ts';
import { type StartFlags, trialOf } from './start.ts';
import type { Surroundings } from './surroundings.ts';

/** `baton start --dry-run`: what a start would begin with, and why not with the rest. Nothing is started. */
export async function dryRun(workflow: string, flags: StartFlags, surroundings: Surroundings): Promise<number> {
  const workflowPath = path.resolve(surroundings.cwd, workflow);
  const { stateDir } = flags;
  const options = { workflowPath, stateDir, trial: trialOf(flags), role: 'visitor', logger: quiet } as const;
  await using visitor = await createDaemon(options, surroundings);
  const plan = await visitor.orchestrator.preview();
  surroundings.stdout.write(flags.json ? `${JSON.stringify({ plan: plan.map(presented) })}\n` : text(plan));
  return exitCodes.ok;
}

/** What is wrong with the file ends the command and is told there; a preview has nothing to log. */
const quiet: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, child: () => quiet };

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
