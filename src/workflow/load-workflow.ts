import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Phase } from '../core/pipeline/phase.ts';
import type { Problem } from '../core/problem.ts';
import { getsSecondPrompt, type PromptName } from '../core/prompt/choose-prompt.ts';
import type { Role } from '../core/run/role.ts';
import type { Settings } from '../core/settings.ts';
import { fenceRule, fenceState, isTrusted } from '../core/text/fence.ts';
import type { PromptInput, PromptWish, Workflow } from '../core/workflow.ts';
import { type ComparedSetting, withValuesOf } from './changed-settings.ts';
import { type FrontMatter, parseFrontMatter } from './parse-front-matter.ts';
import { parseSettings } from './parse-settings.ts';
import { decodeText, readWorkflowBytes } from './read-workflow-bytes.ts';
import { type ReadFile, readPromptFile, readSecondPrompt } from './second-prompt.ts';
import { splitFrontMatter } from './split-front-matter.ts';
import type { DescribedSetting } from './table/describe-settings.ts';
import { branchName } from './template/branch-name.ts';
import { compileTemplate, type Render } from './template/compile-template.ts';
import { defaultJudgePrompt } from './template/judge-prompt.ts';
import { defaultPhaseJudgePrompt, defaultPhasePrompt } from './template/phase-prompts.ts';
import { defaultPlannerPrompt } from './template/planner-prompt.ts';
import { issueVariables, promptVariables } from './template/prompt-variables.ts';
import {
  defaultIntakePrompt,
  defaultLearnerPrompt,
  defaultScannerPrompt,
  defaultSetupPrompt,
} from './template/task-prompts.ts';
import type { WorkflowContext } from './workflow-context.ts';
import { errorAt, type Report, toWorkflowError } from './workflow-problems.ts';

/** A valid workflow file with the details that a person may want to see. */
export interface LoadedWorkflow extends Workflow {
  readonly warnings: readonly Problem[];
  /** Every setting in force and where it comes from, secrets masked. */
  readonly described: readonly DescribedSetting[];
  readonly prompts: readonly PromptInUse[];
  /** For a comparison with another reading. A function, so that no print of the workflow has its secrets. */
  readonly inTheClear: () => { readonly compared: readonly ComparedSetting[]; readonly frontMatter: FrontMatter };
}

/** A prompt that runs get now. */
export interface PromptInUse extends PromptName {
  readonly role: Role;
  /** Of the issues, in percent. */
  readonly share: number;
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
  readFile: ReadFile = readPromptFile,
): LoadedWorkflow {
  const text = decodeText(bytes, path);
  const { frontMatter, body, bodyLine } = splitFrontMatter(text);
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const written = parseFrontMatter(frontMatter, path);
  const inForce = kept === null ? written : withValuesOf(kept.from.inTheClear().frontMatter, written, kept.keys);
  const parsed = parseSettings(inForce, path, context, report);
  const place = { path, report };
  const first = templateIn(body, bodyLine);
  const prompt = named(
    compileTemplate({ ...first, name: 'the prompt template', path }, report),
    first.text,
    first.source ?? basename(path),
  );
  const secondText = parsed && readSecondPrompt(parsed.settings, path, readFile, report);
  const secondFile = parsed?.settings.secondPrompt.file ?? '';
  const second =
    secondText === null
      ? null
      : named(compileKey('second_prompt.file', secondText, path, report), secondText, secondFile);
  const judgePrompt = compilePrompt('judge.prompt', parsed?.settings.judge.prompt ?? null, defaultJudgePrompt, place);
  const planner = compilePrompt('planner.prompt', parsed?.settings.planner.prompt ?? null, defaultPlannerPrompt, place);
  const ofTasks = compileTaskPrompts(parsed?.settings ?? null, place);
  const phases = new Map(parsed?.settings.pipeline.phases.map((phase) => [phase.name, compilePhase(phase, place)]));
  const branch = parsed && compileKey('workspace.branch', parsed.settings.workspace.branch, path, report);

  const errors = problems.filter((problem) => problem.severity === 'error');
  if (errors.length > 0 || parsed === null || prompt === null || judgePrompt === null || branch === null) {
    throw toWorkflowError(path, frontMatter === null ? errors.map(withoutFrontMatter) : errors, context);
  }
  const { trustedAuthors } = parsed.settings.tracker;
  const { share } = parsed.settings.secondPrompt;
  const chosen = ({ issueId, role, phase: name }: PromptWish, which?: PromptInput['which']): Prompt => {
    const phase = phases.get(name ?? '');
    const isSecond = which === undefined ? getsSecondPrompt(issueId, share) : which === 'second';
    const worker = isSecond && second !== null ? second : prompt;
    const byRole = {
      judge: judgePrompt,
      phase: phase?.agent,
      phase_judge: phase?.judge,
      planner,
      ...ofTasks,
      worker,
    };
    return byRole[role] ?? worker;
  };
  return {
    path,
    revision:
      kept === null
        ? revisionWith(bytes, secondText)
        : revisionWith(Buffer.from(`${kept.from.revision} ${revisionOf(bytes)}`), secondText),
    settings: parsed.settings,
    described: parsed.described,
    prompts: [
      inUse('worker', prompt, second === null ? 100 : 100 - share),
      ...(second === null ? [] : [inUse('worker', second, share)]),
      ...(parsed.settings.judge.agents.length === 0 ? [] : [inUse('judge', judgePrompt)]),
      ...(parsed.settings.planner.enabled && planner !== null ? [inUse('planner', planner)] : []),
      ...[...phases.values()].flatMap(({ agent, judge }) => [
        ...(agent === null ? [] : [inUse('phase', agent)]),
        ...(judge === null ? [] : [inUse('phase_judge', judge)]),
      ]),
    ],
    inTheClear: () => ({
      compared: [
        ...parsed.compared,
        { key: 'prompt', guard: 'open', identity: body },
        { key: 'second_prompt', guard: 'open', identity: secondText ?? '' },
      ],
      frontMatter: inForce,
    }),
    renderPrompt: (input) => {
      const { issue, role = 'worker', phase = null, which } = input;
      const { render } = chosen({ issueId: issue.id, role, phase }, which);
      return renderPrompt(render, input, isTrusted(issue, trustedAuthors));
    },
    promptOf: (wanted) => {
      const { version, source } = chosen(wanted);
      return { version, source };
    },
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

/** Compiled once: a file is read again and again. */
const builtIn = new Map<string, Prompt | null>();

/** A template that can be rendered, and the name under which its runs are measured. */
interface Prompt extends PromptName {
  readonly render: Render;
}

function inUse(role: Role, { version, source }: Prompt, share = 100): PromptInUse {
  return { role, version, source, share };
}

function named(render: Render | null, text: string, source: string): Prompt | null {
  return render === null ? null : { render, version: revisionOf(Buffer.from(text)), source };
}

interface TemplatePlace {
  readonly path: string;
  readonly report: Report;
}

/** The template of the file, or the built-in one. */
function compilePrompt(
  key: string,
  written: string | null,
  byDefault: string,
  { path, report }: TemplatePlace,
): Prompt | null {
  const text = written?.trim() ?? '';
  if (text !== '') return named(compileKey(key, text, path, report), text, key);
  const known = builtIn.get(byDefault);
  if (known !== undefined) return known;
  const made = named(
    compileKey(key, byDefault, '', () => {}),
    byDefault,
    builtInName,
  );
  builtIn.set(byDefault, made);
  return made;
}

/** The prompts of the roles of tasks. */
function compileTaskPrompts(settings: Settings | null, place: TemplatePlace) {
  return {
    intake: compilePrompt('intake.prompt', settings?.intake.prompt ?? null, defaultIntakePrompt, place),
    scanner: compilePrompt('scanner.prompt', settings?.scanner.prompt ?? null, defaultScannerPrompt, place),
    learner: compilePrompt('learner.prompt', settings?.learner.prompt ?? null, defaultLearnerPrompt, place),
    setup: compilePrompt('setup.prompt', settings?.setup.prompt ?? null, defaultSetupPrompt, place),
  };
}

function compilePhase(
  { name, prompt, judgePrompt }: Phase,
  place: TemplatePlace,
): { readonly agent: Prompt | null; readonly judge: Prompt | null } {
  const key = `pipeline.phases.${name}`;
  return {
    agent: compilePrompt(`${key}.prompt`, prompt, defaultPhasePrompt(name), place),
    judge: compilePrompt(`${key}.judge_prompt`, judgePrompt, defaultPhaseJudgePrompt, place),
  };
}

function compileKey(key: string, text: string, path: string, report: Report): ReturnType<typeof compileTemplate> {
  const source = { text, name: key, path, firstLine: null };
  return compileTemplate(source, ({ message }) => report(errorAt(key, message, { problem: 'not_liquid' })));
}

/** Of the workflow file with the second prompt, if it has one. */
export function revisionWith(bytes: Uint8Array, second: string | null): string {
  const own = revisionOf(bytes);
  return second === null ? own : revisionOf(Buffer.from(`${own} ${revisionOf(Buffer.from(second))}`));
}

/** Identifies content: equal for equal bytes, different for different ones. */
function revisionOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

const builtInName = 'built in';

/** The template of a workflow file without a body (specification 12.4). */
const defaultPrompt = `You are working on an issue from the configured tracker.

Identifier: {{ issue.identifier }}
Title: {{ issue.title }}

Body:
{% if issue.description %}{{ issue.description }}{% else %}No description provided.{% endif %}`;

/** The prompt is the body without surrounding blank lines; without a body it is the default one. */
function templateIn(body: string, bodyLine: number): { text: string; firstLine: number; source?: string } {
  const text = body.trim();
  if (text === '') return { text: defaultPrompt, firstLine: bodyLine, source: builtInName };
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
