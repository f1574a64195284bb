import { createHash } from 'node:crypto';
import type { Problem } from '../core/problem.ts';
import { fenceRule, fenceState, isTrusted } from '../core/text/fence.ts';
import type { PromptInput, Workflow } from '../core/workflow.ts';
import { type ComparedSetting, withValuesOf } from './changed-settings.ts';
import { type FrontMatter, parseFrontMatter } from './parse-front-matter.ts';
import { parseSettings } from './parse-settings.ts';
import { decodeText, readWorkflowBytes } from './read-workflow-bytes.ts';
import { splitFrontMatter } from './split-front-matter.ts';
import type { DescribedSetting } from './table/describe-settings.ts';
import { branchName } from './template/branch-name.ts';
import { compileTemplate, type Render } from './template/compile-template.ts';
import { issueVariables, promptVariables } from './template/prompt-variables.ts';
import type { WorkflowContext } from './workflow-context.ts';
import { errorAt, type Report, toWorkflowError } from './workflow-problems.ts';

/** A valid workflow file with the details that a person may want to see. */
export interface LoadedWorkflow extends Workflow {
  readonly warnings: readonly Problem[];
  /** Every setting in force and where it comes from, secrets masked. */
  readonly described: readonly DescribedSetting[];
  /** For a comparison with another reading. A function, so that no print of the workflow has its secrets. */
  readonly inTheClear: () => { readonly compared: readonly ComparedSetting[]; readonly frontMatter: FrontMatter };
}

/** Reads the workflow file at an absolute path, or throws one BatonError that names every problem. */
export function loadWorkflow(path: string, context: WorkflowContext): LoadedWorkflow {
  return parseWorkflow(readWorkflowBytes(path), path, context);
}

/** Another reading, and the keys whose values in it stay in force. */
export interface KeptSettings {
  readonly from: LoadedWorkflow;
  readonly keys: readonly string[];
}

/** The same for content that is already in memory; relative paths and messages refer to `path`. */
export function parseWorkflow(
  bytes: Uint8Array,
  path: string,
  context: WorkflowContext,
  kept: KeptSettings | null = null,
): LoadedWorkflow {
  const text = decodeText(bytes, path);
  const { frontMatter, body, bodyLine } = splitFrontMatter(text);
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const written = parseFrontMatter(frontMatter, path);
  const inForce = kept === null ? written : withValuesOf(kept.from.inTheClear().frontMatter, written, kept.keys);
  const parsed = parseSettings(inForce, path, context, report);
  const prompt = compileTemplate({ ...templateIn(body, bodyLine), name: 'the prompt template', path }, report);
  const branch = parsed && compileBranch(parsed.settings.workspace.branch, path, report);

  const errors = problems.filter((problem) => problem.severity === 'error');
  if (errors.length > 0 || parsed === null || prompt === null || branch === null) {
    throw toWorkflowError(path, frontMatter === null ? errors.map(withoutFrontMatter) : errors, context);
  }
  const { trustedAuthors } = parsed.settings.tracker;
  return {
    path,
    revision: kept === null ? revisionOf(bytes) : revisionOf(Buffer.from(`${kept.from.revision} ${revisionOf(bytes)}`)),
    settings: parsed.settings,
    described: parsed.described,
    inTheClear: () => ({
      compared: [...parsed.compared, { key: 'prompt', guard: 'open', identity: body }],
      frontMatter: inForce,
    }),
    renderPrompt: (input) => renderPrompt(prompt, input, isTrusted(input.issue, trustedAuthors)),
    renderBranch: (issue) =>
      branchName(branch({ issue: issueVariables(issue, isTrusted(issue, trustedAuthors)) }), issue),
    warnings: problems,
  };
}

/** A prompt with a fence begins with an explanation of the fence. */
function renderPrompt(prompt: Render, input: PromptInput, trusted: boolean): string {
  const mark = trusted ? null : (input.fenceMark ?? null);
  const text = prompt(promptVariables(input, { isTrusted: trusted, mark }), mark);
  return mark === null || fenceState(text, mark) === 'none' ? text : `${fenceRule(mark)}\n\n${text}`;
}

function compileBranch(text: string, path: string, report: Report): ReturnType<typeof compileTemplate> {
  const key = 'workspace.branch';
  const source = { text, name: key, path, firstLine: null };
  return compileTemplate(source, ({ message }) => report(errorAt(key, message, { problem: 'not_liquid' })));
}

/** Identifies content: equal for equal bytes, different for different ones. */
export function revisionOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

/** The template of a workflow file without a body (specification 12.4). */
const defaultPrompt = `You are working on an issue from the configured tracker.

Identifier: {{ issue.identifier }}
Title: {{ issue.title }}

Body:
{% if issue.description %}{{ issue.description }}{% else %}No description provided.{% endif %}`;

/** The prompt is the body without surrounding blank lines; without a body it is the default one. */
function templateIn(body: string, bodyLine: number): { text: string; firstLine: number } {
  const text = body.trim();
  if (text === '') return { text: defaultPrompt, firstLine: bodyLine };
  const linesBefore = body.slice(0, body.indexOf(text)).split('\n').length - 1;
  return { text, firstLine: bodyLine + linesBefore };
}

/** A user whose file starts with a blank line did write a kind, and needs to know why it is ignored. */
function withoutFrontMatter(problem: Problem): Problem {
  const hint = 'the file has no front matter, because its first line is not exactly ---';
  if (problem.code !== 'missing_tracker_kind') return problem;
  const details = { ...problem.details, problem: 'no_front_matter' };
  return { ...problem, message: `${problem.message} (${hint})`, details };
}
