import path from 'node:path';
import { systemClock } from '../clock/system-clock.ts';
import { BatonError } from '../core/baton-error.ts';
import { isCatalogued } from '../core/error-catalogue.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import { quietLogger } from '../daemon/quiet-logger.ts';
import { stateFolder } from '../daemon/state-folder.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../daemon/workplace.ts';
import type { Explanation } from '../orchestrator/view/explain.ts';
import { askDaemon } from '../server/ask-daemon.ts';
import { socketPath } from '../server/socket-path.ts';
import { exitCodes } from './exit-codes.ts';
import { openBoardBeside } from './issue/open-board.ts';
import { jsonLine } from './json-line.ts';

export interface ExplainFlags extends WorkplaceFlags {
  readonly json?: boolean;
}

/** `baton explain`: every gate between an issue and its run, and what happens next. Nothing is started or changed. */
export async function explain(reference: string, flags: ExplainFlags, surroundings: Surroundings): Promise<number> {
  const { stdout } = surroundings;
  const name = (await idOnBoard(reference, flags, surroundings)) ?? reference;
  const told = await askForExplanation(name, flags, surroundings);
  const explanation = told ?? (await lookAlone(name, flags, surroundings));
  const isDaemon = told !== null;
  stdout.write(flags.json ? jsonLine(presented(explanation, isDaemon)) : text(explanation, isDaemon));
  return exitCodes.ok;
}

/**
 * The id behind a name on Baton's own board, which knows every issue by `BAT-3`, `bat-3` and `3`, whatever its state.
 * Null where the tracker is another.
 */
async function idOnBoard(reference: string, flags: ExplainFlags, surroundings: Surroundings): Promise<string | null> {
  try {
    const { board, close } = await openBoardBeside(
      { ...flags, workflow: flags.workflow ?? 'WORKFLOW.md' },
      surroundings,
    );
    try {
      return (await board.find(reference)).id;
    } finally {
      await close();
    }
  } catch (thrown) {
    if (!(thrown instanceof BatonError) || thrown.code === 'tracker_issue_not_found') throw thrown;
    // A daemon goes on while its file is bad; and where none runs, what is wrong is met again and told.
    return null;
  }
}

/** What the daemon says; null when none answers. */
async function askForExplanation(
  reference: string,
  flags: ExplainFlags,
  surroundings: Surroundings,
): Promise<Explanation | null> {
  const workflowPath = path.resolve(surroundings.cwd, flags.workflow ?? 'WORKFLOW.md');
  const socket = socketPath(stateFolder(workflowPath, flags.stateDir, surroundings), surroundings.tmpDir);
  // Our own daemon of the same version made it; an older one refuses what it does not know.
  const answer = (await askDaemon(socket, { explain: reference }, systemClock)) as DaemonAnswer | null;
  if (answer === null) return null;
  if (answer.explanation !== undefined) return answer.explanation;
  throw errorFrom(answer);
}

interface DaemonAnswer {
  readonly explanation?: Explanation;
  readonly error?: string;
  readonly failure?: {
    readonly code: string;
    readonly message: string;
    readonly next_step: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
}

function errorFrom({ error, failure }: DaemonAnswer): BatonError {
  if (failure !== undefined && isCatalogued(failure.code))
    return new BatonError(failure.code, failure.message, {
      nextStep: failure.next_step,
      details: failure.details ?? {},
    });
  return new BatonError(
    'command_refused',
    `The daemon does not explain: ${failure?.message ?? error ?? 'no reason'}.`,
    {
      nextStep: 'Check the name. If it is right, restart the daemon: it may be of another version than this command.',
    },
  );
}

/** Without a daemon: the store and the tracker are read as a daemon would find them. */
async function lookAlone(reference: string, flags: ExplainFlags, surroundings: Surroundings): Promise<Explanation> {
  const { createDaemon } = await import('../daemon/daemon.ts');
  const workflowPath = path.resolve(surroundings.cwd, flags.workflow ?? 'WORKFLOW.md');
  const options = {
    workflowPath,
    stateDir: flags.stateDir,
    trial: null,
    role: 'visitor',
    logger: quietLogger,
  } as const;
  await using visitor = await createDaemon(options, surroundings);
  return await visitor.orchestrator.explain(reference, 'visitor');
}

function text({ issue, gates, next }: Explanation, isDaemon: boolean): string {
  const lines = [
    `${harmlessLine(issue.identifier)}  ${harmlessLine(issue.title)}  (${harmlessLine(issue.state)})`,
    ...gates.map((gate) => `  ${gate.refusal === null ? 'ok' : 'no'}  ${harmlessLine(gate.text)}`),
    ...(isDaemon ? [] : ['No daemon answers; this is how one would find it.']),
    harmlessLine(next),
  ];
  return `${lines.join('\n')}\n`;
}

function presented(explanation: Explanation, isDaemon: boolean): Record<string, unknown> {
  const { issue, gates, reason, startsBefore, nextCode, next } = explanation;
  return {
    daemon: isDaemon,
    issue_id: issue.id,
    issue_identifier: issue.identifier,
    title: issue.title,
    state: issue.state,
    starts: reason === null,
    code: reason?.code ?? null,
    reason: reason?.text ?? null,
    starts_before: startsBefore,
    gates: gates.map((gate) => ({
      gate: gate.gate,
      ok: gate.refusal === null,
      code: gate.refusal?.code ?? null,
      text: gate.text,
    })),
    next_code: nextCode,
    next,
  };
}
