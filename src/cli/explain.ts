import type { ExplainedIssue } from '../client/schema/issue.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import { runCounts } from '../core/text/run-counts.ts';
import { connect } from '../daemon/connect.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../daemon/workplace.ts';
import { exitCodes } from './exit-codes.ts';
import { messageWords } from './issue/message-words.ts';
import { jsonLine } from './json-line.ts';

export interface ExplainFlags extends WorkplaceFlags {
  readonly json?: boolean;
}

/** `baton explain`: every gate between an issue and its run, and what happens next. Starts and changes nothing. */
export async function explain(reference: string, flags: ExplainFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const explained = await connection.project.explain(reference);
  const isDaemon = connection.isDaemon();
  surroundings.stdout.write(flags.json ? jsonLine(presented(explained, isDaemon)) : text(explained, isDaemon));
  return exitCodes.ok;
}

function text(explained: ExplainedIssue, isDaemon: boolean): string {
  const { issue_identifier, title, state, gates, counts, messages, next } = explained;
  const lines = [
    `${harmlessLine(issue_identifier)}  ${harmlessLine(title)}  (${harmlessLine(state)})`,
    ...gates.map((gate) => `  ${gate.passed ? 'ok' : 'no'}  ${harmlessLine(gate.text)}`),
    ...runCounts(counts).map((each) => `  count  ${each.text}`),
    ...messages.filter(({ status }) => status === 'waiting').map((each) => `  message  ${messageWords(each)}`),
    ...(isDaemon ? [] : ['No daemon is running. This is what a daemon would decide if it started now.']),
    harmlessLine(next),
  ];
  return `${lines.join('\n')}\n`;
}

function presented({ reason, gates, ...explained }: ExplainedIssue, daemon: boolean): Record<string, unknown> {
  return {
    daemon,
    ...explained,
    starts: reason === null,
    code: reason?.code ?? null,
    reason: reason?.text ?? null,
    gates: gates.map(({ passed, ...gate }) => ({ ...gate, ok: passed })),
  };
}
