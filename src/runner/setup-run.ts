import { BatonError } from '../core/baton-error.ts';
import type { Issue } from '../core/issue/issue.ts';
import type { Settings } from '../core/settings.ts';
import { type ProvenCommand, type SaidSetup, setupName, whyNotNotes } from '../core/task/setup-proposal.ts';
import type { Redactor } from '../core/text/redact.ts';
import type { RunRequest } from './runner.ts';

/*
 * The run of a setup: its agent tries commands in a checkout of its own, and names those that it would write into the
 * workflow file. Baton believes none of them: it runs each in another, clean checkout.
 */

/** The prompt of the agent of a setup: its template, what the workflow file has now, and how to answer. */
export function setupPrompt(template: string, { workspace, review, hooks }: Settings): string {
  const now = [
    `- workspace.setup: ${workspace.setup === null ? 'none' : JSON.stringify(workspace.setup)}`,
    `- review.checks: ${review.checks.length === 0 ? 'none' : ''}`,
    ...review.checks.map(({ name, run }) => `  - ${JSON.stringify({ name, run })}`),
  ];
  return [
    template,
    `The workflow file now has these commands:\n\n${now.join('\n')}`,
    [
      `The current folder is a checkout of the repository that is deleted afterwards. You may change it. Baton runs your commands in`,
      `another checkout, without what you changed: the setup may take ${hooks.timeoutMs} ms, each check ${review.checkTimeoutMs} ms.`,
    ].join(' '),
    setupAnswer,
  ].join('\n\n');
}

export const setupAnswer = [
  'End with the tool `propose_setup`. It runs the setup and each check in a clean checkout, and answers how each ended. If one does',
  'not pass, correct it or leave it out, and call the tool again. Nothing changes before a person accepts it. Baton reads nothing',
  'else that you write.',
].join(' ');

/** Commands to run on one commit, in a clean checkout. */
export interface WantedProof extends Omit<SaidSetup, 'notes'> {
  readonly issue: Pick<Issue, 'id' | 'identifier' | 'title'>;
  readonly commit: string;
}

/** Runs commands in a clean checkout. Rejects when it is aborted, or there is no such checkout. */
export type Prove = (settings: Settings, wanted: WantedProof, signal: AbortSignal) => Promise<readonly ProvenCommand[]>;

/** How often an agent may have its commands run. */
const mostTries = 8;

export type SetupAnswer =
  | { readonly kind: 'noted'; readonly commands: number }
  | { readonly kind: 'not_proven'; readonly commands: readonly ProvenCommand[]; readonly triesLeft: number };

/** The proofs of one run, one at a time. */
export class SetupProof {
  readonly #request: ProofRequest;
  readonly #at: ProofPlace;
  #tries = 0;
  #busy: Promise<unknown> | null = null;

  constructor(request: ProofRequest, at: ProofPlace) {
    this.#request = request;
    this.#at = at;
  }

  /** Stores the commands once all of them have passed. */
  async take(said: SaidSetup, signal: AbortSignal): Promise<SetupAnswer> {
    const { task } = this.#request;
    const problem = whyNotNotes(said.notes);
    if (problem !== null) throw new BatonError('invalid_tool_arguments', problem);
    if (task === null) throw new BatonError('internal_error', 'This run has no task.');
    if (this.#busy !== null || this.#tries >= mostTries) throw tooMany(this.#busy !== null);
    this.#tries += 1;
    const proving = this.#prove(said, signal);
    this.#busy = proving.catch(() => {});
    const resume = this.#at.pause();
    try {
      const commands = await proving;
      if (commands.some(({ proof }) => proof.result !== 'passed'))
        return { kind: 'not_proven', commands, triesLeft: mostTries - this.#tries };
      const { revision } = this.#request.workflow;
      const isSetup = ({ name }: ProvenCommand): boolean => name === setupName;
      const setup = said.setup === null ? null : (commands.find(isSetup) ?? null);
      const checks = commands.filter((each) => !isSetup(each));
      const notes = this.#at.redactor.redact(said.notes);
      await task.propose({ kind: 'setup', setup, checks, notes, commit: this.#at.commit ?? '', revision });
      return { kind: 'noted', commands: commands.length };
    } finally {
      this.#busy = null;
      resume();
    }
  }

  /** Resolves when no command runs any more; the end of the session stops them. */
  async closed(): Promise<void> {
    await this.#busy;
  }

  async #prove({ setup, checks }: SaidSetup, signal: AbortSignal): Promise<readonly ProvenCommand[]> {
    const { commit, over, prove } = this.#at;
    if (prove === undefined || commit === null)
      throw new BatonError('repository_unavailable', 'This project has no repository.');
    const { issue, workflow } = this.#request;
    // A new checkout has the setup of the file, where none is proposed.
    const wanted = { issue, commit, checks, setup: setup ?? workflow.settings.workspace.setup };
    return prove(workflow.settings, wanted, AbortSignal.any([signal, over]));
  }
}

type ProofRequest = Pick<RunRequest, 'issue' | 'workflow' | 'task'>;

interface ProofPlace {
  /** Absent: there is no setup here. */
  readonly prove: Prove | undefined;
  readonly commit: string | null;
  /** The time that Baton needs is not the agent's. */
  readonly pause: () => () => void;
  readonly redactor: Pick<Redactor, 'redact'>;
  /** Aborts with the session. */
  readonly over: AbortSignal;
}

function tooMany(isBusy: boolean): BatonError {
  if (isBusy)
    return new BatonError('request_limited', 'The commands of another call are being run.', {
      nextStep: 'Wait for its answer.',
    });
  return new BatonError('request_limited', `The commands of this run were run ${mostTries} times.`, {
    nextStep: 'End your turn: the setup has failed, and a person may try it again.',
  });
}
