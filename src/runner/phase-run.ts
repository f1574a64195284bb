import { BatonError } from '../core/baton-error.ts';
import { type SchemaProblem, type Shortcoming, shortcomingText } from '../core/pipeline/completion.ts';
import { fence, fenceRule, fenceState } from '../core/text/fence.ts';
import type { RunWorkspaces } from './judge-run.ts';
import type { PhaseBrief, RunRequest } from './runner.ts';

/*
 * The part of a run that concerns the pipeline: what its agent learns about the phase, and how the phase ends. Artifacts are
 * written by agents from the words of strangers, so they are data in every prompt.
 */

/** The prompt of a phase agent, or of the worker after the phases: its template, then what Baton knows about the phase. */
export function phasePrompt(template: string, brief: PhaseBrief, mark: string): string {
  const { contract, current, reasons, name } = brief;
  const artifacts = brief.earlier.map(({ phase, text }) =>
    artifactText(`The artifact of the phase "${phase}"`, text, mark),
  );
  const revision = [
    ...(current === null ? [] : [artifactText('Your artifact so far', current, mark)]),
    ...(reasons.length === 0 ? [] : [`${sentBack}\n\n${fence(reasons.join('\n'), mark)}`]),
  ];
  const parts = contract === null ? artifacts : [...artifacts, ...revision, contractText(brief)];
  if (contract === null && parts.length === 0) return template;
  const heading =
    contract === null ? 'Earlier phases prepared this issue.' : `You work on the phase "${name}" of this issue.`;
  return withRule([template, heading, ...parts].join('\n\n'), mark);
}

/** For a phase agent that remembers its thread: why its artifact came back, and how the phase ends. */
export function phaseNews({ role, phase }: Pick<RunRequest, 'role' | 'phase'>, mark: string): string | null {
  if (role !== 'phase' || phase === null) return null;
  const { reasons } = phase;
  const why = reasons.length === 0 ? [] : [`${sentBack}\n\n${fence(reasons.join('\n'), mark)}`];
  return withRule([...why, contractText(phase)].join('\n\n'), mark);
}

const sentBack = 'Your artifact was sent back for these reasons. Resolve each:';

function contractText({ contract, later, isCommitted }: PhaseBrief): string {
  if (contract === null) return '';
  const { artifact, requiredSections, maxBytes, schema } = contract;
  const lines = [
    `Write your result into the file \`${artifact}\`, ${schema === null ? 'in Markdown' : 'as JSON'}, with at most ${maxBytes} bytes.`,
    ...(requiredSections.length === 0
      ? []
      : [`It must have these headings, each with text below it: ${requiredSections.join(', ')}.`]),
    ...(schema === null ? [] : [`It must match this JSON schema: ${JSON.stringify(schema)}`]),
    ...(isCommitted ? ['Commit the file on your branch.'] : []),
    'Then call the tool `complete_phase` with a short summary, and end your turn. Its answer says what is missing.',
    'Without a call, the file counts as you leave it, without a summary.',
    ...(later.length === 0
      ? []
      : [`If the issue does not need the next phases, name the phase to go to as \`skip_to\`: ${later.join(', ')}.`]),
  ];
  return lines.join('\n');
}

/** The prompt of the judge of an artifact. */
export function phaseJudgePrompt(template: string, brief: PhaseBrief, mark: string): string {
  const { name, contract, earlier, judged } = brief;
  const sections = contract?.requiredSections ?? [];
  const parts = [
    template,
    `You judge the artifact of the phase "${name}". The current folder is a checkout of the repository. You may only read it. Do not change anything in it: a changed file voids your verdict.`,
    ...(sections.length === 0 ? [] : [`The artifact had to have these sections: ${sections.join(', ')}.`]),
    ...earlier.map(({ phase, text }) => artifactText(`The artifact of the phase "${phase}"`, text, mark)),
    ...(judged === null ? [] : [artifactText('The artifact that you judge', judged.text, mark)]),
    ...(judged === null ? [] : [`Its author says about it:\n\n${fence(judged.summary, mark)}`]),
    ...(judged?.skipTo == null ? [] : [`Its author wants the issue to go to the phase "${judged.skipTo}" next.`]),
    'End with exactly one call: `approve_phase` if the issue can go on, or `reject_phase` with your findings if it cannot. Baton reads nothing else that you write as a verdict.',
  ];
  return withRule(parts.join('\n\n'), mark);
}

function artifactText(title: string, text: string, mark: string): string {
  return `${title}:\n\n${fence(text, mark)}`;
}

/** A template without words of strangers does not explain the fence. */
function withRule(text: string, mark: string): string {
  return fenceState(text, mark) === 'none' || text.includes(fenceRule(mark)) ? text : `${fenceRule(mark)}\n\n${text}`;
}

/** The folder of Baton's own that the artifact is in, and that stays out of the repository; null: none. */
export function artifactFolder({ role, phase }: Pick<RunRequest, 'role' | 'phase'>): string | null {
  const contract = role === 'phase' ? (phase?.contract ?? null) : null;
  const [folder, ...below] = contract?.artifact.split('/') ?? [];
  return contract !== null && !phase?.isCommitted && folder === ownFolder && below.length === 1 ? ownFolder : null;
}

const ownFolder = '.baton';

/** The tools that end a phase, or judge its artifact. */
export interface PhaseTools {
  /** Takes what a phase agent says about its phase; resolves with what is wrong. Present only for a phase agent. */
  readonly onComplete?: (said: {
    readonly summary: string;
    readonly skipTo: string | null;
  }) => Promise<readonly Shortcoming[]>;
  /** What a judge has: a change unless this says otherwise. */
  readonly judges?: 'artifact';
}

/** Each may store a version of the artifact. */
const mostCompletions = 10;

/** How a run of the pipeline ends: by the tool, or by the file that its agent left. */
export class PhaseEnd {
  readonly #request: RunRequest;
  readonly #workspaces: Pick<RunWorkspaces, 'readFile'>;
  readonly #folder: string;
  readonly #schemaProblem: SchemaProblem | undefined;
  #found: readonly Shortcoming[] | null = null;
  /** The text of the last call; null: there was none. */
  #taken: string | null = null;
  /** Of the last call. */
  #skipTo: string | null = null;
  #completions = 0;

  constructor(
    request: RunRequest,
    workspaces: Pick<RunWorkspaces, 'readFile'>,
    folder: string,
    schemaProblem: SchemaProblem | undefined,
  ) {
    this.#request = request;
    this.#workspaces = workspaces;
    this.#folder = folder;
    this.#schemaProblem = schemaProblem;
  }

  tools(): PhaseTools {
    const { role } = this.#request;
    if (role === 'phase_judge') return { judges: 'artifact' };
    return role === 'phase' ? { onComplete: ({ summary, skipTo }) => this.#called(summary, skipTo) } : {};
  }

  /** Its agent completed the phase, and nothing is wrong with that. */
  isDone(): boolean {
    return this.#found?.length === 0;
  }

  /** For an agent whose turn ended before the phase did. */
  reminder(): string {
    if (this.#request.role === 'phase_judge')
      return 'You have not given a verdict. Call `approve_phase` or `reject_phase` now; nothing else counts.';
    const found = this.#found ?? [];
    const artifact = this.#request.phase?.contract?.artifact ?? '';
    return found.length === 0
      ? `You have not called \`complete_phase\`. If \`${artifact}\` is finished, call it now; otherwise finish the file first.`
      : `The phase is not completed: ${found.map(shortcomingText).join(' ')} Fix \`${artifact}\` and call \`complete_phase\` again.`;
  }

  /**
   * Its agent ended without a word, or without another one after a call that fell short: the artifact that it left speaks for
   * it. One that has not changed since does not.
   */
  async takeLeft(): Promise<void> {
    const { role, phase } = this.#request;
    if (role !== 'phase' || phase === null || this.isDone()) return;
    const left = await this.#read();
    if ('text' in left && left.text.trim() !== '' && left.text !== (this.#taken ?? phase.current))
      await this.#complete('The agent wrote the artifact and did not say more.', this.#skipTo);
  }

  async #called(summary: string, skipTo: string | null): Promise<readonly Shortcoming[]> {
    this.#completions += 1;
    if (this.#completions > mostCompletions)
      throw new BatonError('request_limited', `This run already completed its phase ${mostCompletions} times.`, {
        nextStep: 'End your turn: the last artifact counts.',
      });
    this.#skipTo = skipTo;
    return this.#complete(summary, skipTo);
  }

  async #complete(summary: string, skipTo: string | null): Promise<readonly Shortcoming[]> {
    const { phase, complete } = this.#request;
    const artifact = await this.#read();
    this.#taken = 'text' in artifact ? artifact.text : null;
    const schema = phase?.contract?.schema ?? null;
    const problem =
      schema === null || !('text' in artifact) ? null : (this.#schemaProblem?.(schema, artifact.text) ?? null);
    this.#found = await complete({
      path: phase?.contract?.artifact ?? '',
      artifact,
      schemaProblem: problem,
      summary,
      skipTo,
    });
    return this.#found;
  }

  #read(): ReturnType<RunWorkspaces['readFile']> {
    const contract = this.#request.phase?.contract;
    return this.#workspaces.readFile(this.#folder, contract?.artifact ?? '', contract?.maxBytes ?? 0);
  }
}
