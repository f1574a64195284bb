import type { ExplainedIssue } from '../client/schema/issue.ts';
import { phaseWords, waitText } from '../core/pipeline/phase-standing.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import { runCounts } from '../core/text/run-counts.ts';
import { connect } from '../daemon/connect.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../daemon/workplace.ts';
import { exitCodes } from './exit-codes.ts';
import { messageWords } from './issue/message-words.ts';
import { jsonLine } from './json-line.ts';
import { commandsHere } from './place-flags.ts';

export interface ExplainFlags extends WorkplaceFlags {
  readonly json?: boolean;
}

/** `baton explain`: every gate between an issue and its run, and what happens next. Starts and changes nothing. */
export async function explain(reference: string, flags: ExplainFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const explained = await connection.project.explain(reference);
  // A daemon carries out commands at once, so that none of them can change what it explains.
  const alone = connection.isDaemon() ? null : { waiting: (await connection.project.status()).waiting_commands };
  const here = commandsHere(flags, surroundings);
  surroundings.stdout.write(flags.json ? jsonLine(presented(explained, alone)) : here(text(explained, alone)));
  return exitCodes.ok;
}

/** Without a daemon: how many commands it carries out before it decides. */
type Alone = { readonly waiting: number } | null;

function text(explained: ExplainedIssue, alone: Alone): string {
  const { issue_identifier, title, state, gates, counts, messages, next, next_code, phase } = explained;
  const waits = phase === undefined ? null : waitText(phase.waits_for, next_code);
  const lines = [
    `${harmlessLine(issue_identifier)}  ${harmlessLine(title)}  (${harmlessLine(state)})`,
    ...(phase === undefined ? [] : [`  phase  ${phaseWords(phase)}${waits === null ? '' : `: ${waits}`}`]),
    // What is in the way comes last, next to what follows from it.
    ...gates
      .toSorted((left, right) => Number(right.passed) - Number(left.passed))
      .map((gate) => `  ${gate.passed ? 'ok' : 'not ok'}  ${harmlessLine(gate.text)}`),
    ...runCounts(counts).map((each) => `  count  ${each.text}`),
    ...messages.filter(({ status }) => status === 'waiting').map((each) => `  message  ${messageWords(each)}`),
    ...(alone === null ? [] : [`No daemon is running. ${withoutDaemon(alone.waiting)}`]),
    harmlessLine(next),
  ];
  return `${lines.join('\n')}\n`;
}

function withoutDaemon(waiting: number): string {
  if (waiting === 0) return 'This is what a daemon would decide if it started now.';
  const commands = waiting === 1 ? '1 command waits' : `${waiting} commands wait`;
  return `${commands} for a daemon, which carries out commands before it decides. That may change the result.`;
}

function presented({ reason, gates, ...explained }: ExplainedIssue, alone: Alone): Record<string, unknown> {
  return {
    daemon: alone === null,
    ...(alone === null ? {} : { waiting_commands: alone.waiting }),
    ...explained,
    starts: reason === null,
    code: reason?.code ?? null,
    reason: reason?.text ?? null,
    gates: gates.map(({ passed, ...gate }) => ({ ...gate, ok: passed })),
  };
}
