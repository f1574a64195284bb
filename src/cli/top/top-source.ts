import type { CommandRequest } from '../../client/schema/command.ts';
import type { IssueDetail } from '../../client/schema/issue.ts';
import type { Now } from '../../client/schema/now.ts';
import type { RunEvent } from '../../client/schema/run.ts';
import { type Clock, timedOut, within } from '../../clock/clock.ts';

/**
 * What the terminal view shows and asks for. Each read rejects when the daemon does not answer; no read changes
 * anything.
 */
export interface TopSource {
  /** The address of the dashboard; null when there is none, or it is unknown. */
  readonly address: string | null;
  /** The state of every project. */
  now(): Promise<readonly Now[]>;
  /** Why an issue is where it is, and its question. */
  issue(project: string, issueId: string): Promise<IssueDetail>;
  /** The last events of a run, oldest first. */
  events(project: string, runId: string): Promise<readonly RunEvent[]>;
  /** Lines of the daemon's own log since the last call, when the view runs inside the daemon; empty elsewhere. */
  log(): readonly string[];
  /** Sends a command with the caller's key. Rejects when it is unknown whether the daemon took it. */
  submit(project: string, request: CommandRequest): Promise<TopAnswer>;
}

export interface TopAnswer {
  readonly status: 'done' | 'refused' | 'waiting';
  readonly text: string;
}

/** A daemon that takes longer than this counts as not answering. */
const patienceMs = 5_000;

/** The state of all projects, or why it is unknown. Never rejects. */
export async function askNow(
  source: TopSource,
  clock: Clock,
): Promise<{ readonly nows: readonly Now[] } | { readonly problem: string }> {
  try {
    const nows = await within(clock, patienceMs, source.now());
    return nows === timedOut ? { problem: 'it takes too long' } : { nows };
  } catch (error) {
    return { problem: problemText(error) };
  }
}

export function problemText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
