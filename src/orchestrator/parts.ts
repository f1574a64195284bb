import type { AgentProcess } from '../agent/agent.ts';
import type { Author } from '../core/author.ts';
import type { RunEnd } from '../core/run.ts';
import type { RetryKind } from '../core/workflow.ts';
import type { RunUsage } from './runs/run-usage.ts';

/** A run that has ended, in figures. */
export interface EndedRun {
  readonly outcome: RunEnd;
  readonly retryKind: RetryKind | null;
  readonly durationMs: number;
  readonly usage: RunUsage;
}

/** What the orchestrator asks the machine about processes that it has no other hold on. */
export interface Processes {
  /** Ends every process on this machine that this daemon started before a restart. */
  endEarlierLives(): Promise<{ readonly ended: number; readonly left: readonly { readonly runId: string | null }[] }>;
  /** Ends every process on this machine that carries the marker of this run, or is in the session it began with. */
  endRun(runId: string, began: AgentProcess | null): Promise<{ readonly ended: number; readonly left: number }>;
  /** Ends all processes of these runs without asking them first. */
  endAtOnce(runIds: readonly string[]): Promise<void>;
  isAlive(process: AgentProcess): boolean;
}

/**
 * Changes of the issues themselves. Each gives the identifier of the issue, and rejects with the reason when it is not
 * allowed. Carried out a second time, with the same command, it changes nothing more.
 */
export interface IssueDesk {
  move(issue: string, to: string, by: DeskOrder): Promise<string>;
  comment(issue: string, text: string, by: DeskOrder): Promise<string>;
  file(fields: Readonly<Record<string, unknown>>, by: DeskOrder): Promise<string>;
  edit(issue: string, fields: Readonly<Record<string, unknown>>, by: DeskOrder): Promise<string>;
}

export interface DeskOrder {
  /** The command that asks for it. */
  readonly commandId: string;
  readonly author: Author;
  readonly reason: string | null;
}

export interface Trial {
  readonly only: readonly string[] | null;
  readonly maxRuns: number | null;
}
