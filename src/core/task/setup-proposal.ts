/** The commands and notes that the agent of a setup would write into the workflow file. JSON data, as it is stored. */
export interface SetupProposal {
  readonly kind: 'setup';
  /** For `workspace.setup`; null: it stays as it is. */
  readonly setup: ProvenCommand | null;
  /** For `review.checks`. */
  readonly checks: readonly ProvenCommand[];
  /** For the end of the prompt; empty: none. */
  readonly notes: string;
  /** The commit that the commands were proven on. */
  readonly commit: string;
  /** The workflow file that it was made for, by its content. */
  readonly revision: string;
}

/** A command, and how it ended when Baton ran it in a clean checkout. */
export interface ProvenCommand {
  readonly name: string;
  readonly run: string;
  readonly proof: Proof;
}

export interface Proof {
  /** `skipped`: it could not run, or the setup before it did not pass. */
  readonly result: 'passed' | 'failed' | 'timed_out' | 'skipped';
  readonly exitCode: number | null;
  readonly durationMs: number;
  /** The end of what it printed. */
  readonly output: string;
}

/** What an agent says about how a repository is built and tested. */
export interface SaidSetup {
  readonly setup: string | null;
  readonly checks: readonly SaidCheck[];
  readonly notes: string;
}

export interface SaidCheck {
  readonly name: string;
  readonly run: string;
}

/** The name of the setup among the commands, as the workflow file has it. */
export const setupName = 'workspace.setup';

/** How much of the output of a command is kept as its proof. */
const longestProof = 4_000;

/** The end of an output, by whole lines where it has any. */
export function endOf(output: string): string {
  const text = output.trimEnd();
  if (text.length <= longestProof) return text;
  const end = text.slice(-longestProof).toWellFormed();
  return end.slice(end.indexOf('\n') + 1);
}

/** Why words cannot be notes of a prompt; null: they can. The prompt is a template, and notes are none. */
export function whyNotNotes(notes: string): string | null {
  return /\{\{|\{%/.test(notes) ? 'The notes must not contain {{ or {%: the prompt is a template.' : null;
}
