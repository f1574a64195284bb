import type { CommandRequest } from '../../client/schema/command.ts';
import type { IssueDetail } from '../../client/schema/issue.ts';
import type { Now } from '../../client/schema/now.ts';
import type { RunEvent } from '../../client/schema/run.ts';
import { type Clock, timedOut, within } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';

/** What the terminal view shows and asks for. Each read rejects when the daemon does not answer; none changes anything. */
export interface TopSource {
  /** Where the dashboard is; null where there is none, or it is not known. */
  readonly address: string | null;
  /** Everything that is going on, of every project. */
  now(): Promise<readonly Now[]>;
  /** Why an issue is where it is, and what it asks. */
  issue(project: string, issueId: string): Promise<IssueDetail>;
  /** The last of what happened in a run, oldest first. */
  events(project: string, runId: string): Promise<readonly RunEvent[]>;
  /** Lines of the daemon's own log that came since the last call, where it is shown with it; empty elsewhere. */
  log(): readonly string[];
  /** Asks for something; its key is the caller's. Rejects where it cannot be known whether it was taken. */
  submit(project: string, request: CommandRequest): Promise<TopAnswer>;
}

export interface TopAnswer {
  readonly status: 'done' | 'refused' | 'waiting';
  readonly text: string;
}

/** A daemon that takes longer than this does not answer. */
const patienceMs = 5_000;

export interface NoAnswer {
  readonly problem: string;
  /** The daemon is there, and refuses to answer us. */
  readonly isRefusal: boolean;
}

/** What is going on, or why that is not known. Never rejects. */
export async function askNow(source: TopSource, clock: Clock): Promise<{ readonly nows: readonly Now[] } | NoAnswer> {
  try {
    const nows = await within(clock, patienceMs, source.now());
    return nows === timedOut ? { problem: 'it takes too long', isRefusal: false } : { nows };
  } catch (error) {
    const isRefusal = error instanceof BatonError && error.code === 'token_needed';
    return { problem: problemText(error), isRefusal };
  }
}

export function problemText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
