import type * as z from 'zod';
import { BatonError } from '../core/baton-error.ts';
import { type AnyErrorCode, type ErrorCode, errorCatalogue } from '../core/error-catalogue.ts';
import type { Author } from '../core/issue/author.ts';
import { actingAs, actingRun } from './local-headers.ts';
import {
  type BoardColumns,
  type BoardDetail,
  type BoardImport,
  type BoardIssues,
  boardColumns,
  boardDetail,
  boardIssues,
  type ImportedIssues,
  importedIssues,
} from './schema/board.ts';
import { type Command, type CommandRequest, commandAnswer, commandList } from './schema/command.ts';
import { refusal } from './schema/common.ts';
import { type ExplainedIssue, explainedIssue, type IssueDetail, issueDetail } from './schema/issue.ts';
import { type LearningList, learningList } from './schema/learning.ts';
import { type Now, now } from './schema/now.ts';
import {
  type Artifact,
  artifact,
  type IssuePipeline,
  issuePipelineAnswer,
  type Pipeline,
  pipeline,
} from './schema/pipeline.ts';
import { type PromptList, promptComparison, promptList } from './schema/prompt.ts';
import { type PruneReport, pruneReport } from './schema/prune.ts';
import { type Pull, type PullDetail, pullDetail, pullList } from './schema/pull.ts';
import { type Question, questionAnswer, questionList } from './schema/question.ts';
import {
  type Diff,
  diff,
  type Run,
  type RunDetail,
  type RunEvent,
  runDetail,
  runEventList,
  runList,
} from './schema/run.ts';
import { type Status, type StoreChange, status, storeChangeAnswer } from './schema/status.ts';
import { jobList, type Project, projectList, type RequestReport, requestReport } from './schema/system.ts';
import { type Task, type TaskDetail, taskDetail, taskList } from './schema/task.ts';
import { type WorkspaceReport, workspaceReport } from './schema/workspace.ts';
import type { Send } from './send.ts';

/** A daemon answers at once; one that does not is frozen or overloaded. */
const answerMs = 5_000;
/** For requests that may ask the tracker or carry out a command. The daemon itself gives up before this. */
const patientMs = 20_000;

/** The daemon gives up after 30 seconds, and others may wait for a diff before this one. */
const diffMs = 60_000;

/** The size of a workspace takes a look at each of its files. */
const measureMs = 120_000;

export interface ClientOptions {
  /** The author of commands; by default the caller itself. */
  readonly author?: Author;
}

/** The API as functions. The schemas of the routes parse the answers; a refusal rejects with its code. */
export class ApiClient {
  readonly #send: Send;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(send: Send, { author }: ClientOptions = {}) {
    this.#send = send;
    this.#headers = author === undefined ? {} : headersOf(author);
  }

  async projects(): Promise<readonly Project[]> {
    return (await this.read('', projectList)).projects;
  }

  project(name: string): ProjectClient {
    return new ProjectClient(this, `/${part(name)}`);
  }

  /** Reads a path below `/api/v1/projects`. */
  async read<S extends z.ZodType>(path: string, schema: S, limitMs = answerMs): Promise<z.output<S>> {
    const request = { method: 'GET', path: `/api/v1/projects${path}`, headers: this.#headers, limitMs } as const;
    return readAnswer(await this.#send(request), schema);
  }

  async post<S extends z.ZodType>(path: string, body: unknown, schema: S): Promise<z.output<S>> {
    const headers = { ...this.#headers, 'content-type': 'application/json' };
    const request = { method: 'POST', path: `/api/v1/projects${path}`, headers, limitMs: patientMs } as const;
    return readAnswer(await this.#send({ ...request, body: JSON.stringify(body) }), schema);
  }
}

/** The requests about one project. */
export class ProjectClient {
  readonly #client: ApiClient;
  readonly #path: string;

  constructor(client: ApiClient, path: string) {
    this.#client = client;
    this.#path = path;
  }

  status(): Promise<Status> {
    return this.#client.read(`${this.#path}/status`, status);
  }

  now(): Promise<Now> {
    return this.#client.read(this.#path, now);
  }

  issue(issue: string): Promise<IssueDetail> {
    return this.#client.read(`${this.#path}/issues/${part(issue)}`, issueDetail, patientMs);
  }

  explain(issue: string): Promise<ExplainedIssue> {
    return this.#client.read(`${this.#path}/issues/${part(issue)}/explanation`, explainedIssue, patientMs);
  }

  /** The latest tasks of a kind, newest first. */
  async tasks(kind: Task['kind']): Promise<readonly Task[]> {
    return (await this.#client.read(`${this.#path}/tasks?kind=${kind}`, taskList)).tasks;
  }

  /** A task with its proposals. Rejects with `task_not_found`. */
  task(id: string): Promise<TaskDetail> {
    return this.#client.read(`${this.#path}/tasks/${part(id)}`, taskDetail);
  }

  /** The phases, and the issues by phase. */
  pipeline(): Promise<Pipeline> {
    return this.#client.read(`${this.#path}/pipeline`, pipeline, patientMs);
  }

  /** Where an issue stands in the pipeline; null where it is not in it. */
  async issuePipeline(issue: string): Promise<IssuePipeline | null> {
    return (await this.#client.read(`${this.#path}/issues/${part(issue)}/pipeline`, issuePipelineAnswer)).pipeline;
  }

  /** Without a version, the newest one. Rejects with `artifact_not_found`. */
  artifact(issue: string, phase: string, version: number | null): Promise<Artifact> {
    const query = version === null ? '' : `?version=${version}`;
    return this.#client.read(`${this.#path}/issues/${part(issue)}/artifacts/${part(phase)}${query}`, artifact);
  }

  /** Of a version, or of the newest one, against the one before it. */
  artifactDiff(issue: string, phase: string, version: number | null): Promise<Diff> {
    const query = version === null ? '' : `?to=${version}`;
    return this.#client.read(`${this.#path}/issues/${part(issue)}/artifacts/${part(phase)}/diff${query}`, diff, diffMs);
  }

  jobs(): Promise<z.output<typeof jobList>> {
    return this.#client.read(`${this.#path}/jobs`, jobList);
  }

  requests(hours: number): Promise<RequestReport> {
    return this.#client.read(`${this.#path}/requests?hours=${hours}`, requestReport);
  }

  /** The newest first, of one issue or of all. Rejects with `tracker_issue_not_found`. */
  async runs({ issue, limit }: { readonly issue?: string; readonly limit: number }): Promise<readonly Run[]> {
    const runs: Run[] = [];
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ limit: String(Math.min(limit - runs.length, mostPerPage)) });
      if (issue !== undefined) query.set('issue', issue);
      if (cursor !== null) query.set('cursor', cursor);
      const page: z.output<typeof runList> = await this.#client.read(`${this.#path}/runs?${query}`, runList);
      runs.push(...page.runs);
      cursor = page.next;
    } while (cursor !== null && runs.length < limit);
    return runs;
  }

  /** Finds a run by its id, the start of its id, or its issue. */
  run(reference: string): Promise<RunDetail> {
    return this.#client.read(`${this.#path}/runs/${part(reference)}`, runDetail, patientMs);
  }

  /** The events after this number, in order. */
  events(run: string, after: number): Promise<z.output<typeof runEventList>> {
    const query = `after=${after}&limit=${mostPerPage}`;
    return this.#client.read(`${this.#path}/runs/${part(run)}/events?${query}`, runEventList, patientMs);
  }

  /** The last events of a run, in order. */
  async lastEvents(run: string, limit: number): Promise<readonly RunEvent[]> {
    const query = `direction=backwards&limit=${limit}`;
    const { events } = await this.#client.read(`${this.#path}/runs/${part(run)}/events?${query}`, runEventList);
    return events.toSorted((left, right) => left.seq - right.seq);
  }

  /** The open questions, oldest first; or the newest in any state. */
  async questions(wanted: 'open' | { readonly latest: number }): Promise<readonly Question[]> {
    const query = wanted === 'open' ? 'which=open' : `which=latest&limit=${Math.min(wanted.latest, mostPerPage)}`;
    return (await this.#client.read(`${this.#path}/questions?${query}`, questionList)).questions;
  }

  /** Finds a question by its id, the start of its id, or its issue. */
  /** The newest first. */
  async pulls({
    status,
    limit,
  }: {
    readonly status: 'open' | 'all';
    readonly limit: number;
  }): Promise<readonly Pull[]> {
    const query = new URLSearchParams({ status, limit: String(Math.min(limit, mostPerPage)) });
    return (await this.#client.read(`${this.#path}/pulls?${query}`, pullList)).pulls;
  }

  /** By its number or its issue. Rejects with `pull_not_found`. */
  pull(reference: string): Promise<PullDetail> {
    return this.#client.read(`${this.#path}/pulls/${part(reference)}`, pullDetail, patientMs);
  }

  pullDiff(reference: string, sinceRound: number | null): Promise<Diff> {
    const query = sinceRound === null ? '' : `?since_round=${sinceRound}`;
    return this.#client.read(`${this.#path}/pulls/${part(reference)}/diff${query}`, diff, diffMs);
  }

  async question(reference: string): Promise<Question> {
    return (await this.#client.read(`${this.#path}/questions/${part(reference)}`, questionAnswer)).question;
  }

  async submit(request: CommandRequest): Promise<Command> {
    return (await this.#client.post(`${this.#path}/commands`, request, commandAnswer)).command;
  }

  board(limit: number): Promise<BoardColumns> {
    return this.#client.read(`${this.#path}/board?limit=${limit}`, boardColumns, patientMs);
  }

  /** Status by status, the newest change first. */
  boardIssues(wanted: {
    readonly statuses: readonly string[];
    readonly labels: readonly string[];
    readonly limit: number;
  }): Promise<BoardIssues> {
    const query = new URLSearchParams({ limit: String(wanted.limit) });
    for (const status of wanted.statuses) query.append('status', status);
    for (const label of wanted.labels) query.append('label', label);
    return this.#client.read(`${this.#path}/board/issues?${query}`, boardIssues, patientMs);
  }

  /** Finds an issue by its identifier, its number or its id. */
  boardIssue(issue: string): Promise<BoardDetail> {
    return this.#client.read(`${this.#path}/board/issues/${part(issue)}`, boardDetail, patientMs);
  }

  importIssues(file: BoardImport): Promise<ImportedIssues> {
    return this.#client.post(`${this.#path}/board/import`, file, importedIssues);
  }

  workspaces({ ignoresRetention }: { readonly ignoresRetention: boolean }): Promise<WorkspaceReport> {
    const query = `ignores_retention=${ignoresRetention}`;
    return this.#client.read(`${this.#path}/workspaces?${query}`, workspaceReport, measureMs);
  }

  learnings(): Promise<LearningList> {
    return this.#client.read(`${this.#path}/learnings`, learningList, patientMs);
  }

  prompts(days: number): Promise<PromptList> {
    return this.#client.read(`${this.#path}/prompts?days=${days}`, promptList, patientMs);
  }

  /** Versions, or their beginnings. Rejects with `prompt_not_found`. */
  comparePrompts(versions: readonly string[], { role, days }: { readonly role: string; readonly days: number }) {
    const [a, b] = versions;
    const query = new URLSearchParams({ role, days: String(days) });
    if (a !== undefined) query.set('a', a);
    if (b !== undefined) query.set('b', b);
    return this.#client.read(`${this.#path}/prompts/compare?${query}`, promptComparison, patientMs);
  }

  /** What is past its retention. */
  prunable(): Promise<PruneReport> {
    return this.#client.read(`${this.#path}/prune`, pruneReport, measureMs);
  }

  /** A command by its id; null for one that is not among the latest. */
  async command(id: string): Promise<Command | null> {
    const { commands } = await this.#client.read(`${this.#path}/commands`, commandList);
    return commands.find((command) => command.id === id) ?? null;
  }

  async storeChanged(change: StoreChange): Promise<void> {
    await this.#client.post(`${this.#path}/store-changes`, { change }, storeChangeAnswer);
  }
}

/** The largest page that every list allows. */
const mostPerPage = 500;

/** A part of a path. An empty name becomes a space, because an empty part would change the address. */
function part(name: string): string {
  return encodeURIComponent(name === '' ? ' ' : name);
}

function headersOf(author: Author): Record<string, string> {
  if (author.kind === 'run') return { [actingRun]: encodeURIComponent(author.runId) };
  return author.kind === 'person' ? { [actingAs]: encodeURIComponent(author.name) } : {};
}

async function readAnswer<S extends z.ZodType>(answer: Response, schema: S): Promise<z.output<S>> {
  const json: unknown = await answer.json().catch(() => null);
  if (!answer.ok) {
    const { error } = refusal.safeParse(json).data ?? { error: { code: '', message: 'The daemon gave no reason.' } };
    throw errorFrom(error);
  }
  const read = schema.safeParse(json);
  if (read.success) return read.data;
  throw new BatonError('daemon_unreachable', 'This command does not understand the answer of the daemon.', {
    nextStep: 'Restart the daemon: it probably runs another version of Baton than this command.',
    cause: read.error,
  });
}

/** The error that an answer of the API reports. */
export function errorFrom({ code, message, next_step: nextStep, details = {}, problems }: RefusedWith): BatonError {
  const words = problems === undefined ? message : problems.map(({ at, problem }) => `${at}: ${problem}`).join('; ');
  const known = ownCodes[code] ?? (isErrorCode(code) ? code : null);
  const options = { details, ...(nextStep === undefined ? {} : { nextStep }) };
  // Only the errors of Baton have a next step; one that is not in the catalogue is of an adapter.
  if (known === null && nextStep !== undefined)
    return new BatonError({ code: code as AnyErrorCode, retryable: false, nextStep }, words, options);
  return new BatonError(known ?? 'daemon_unreachable', words, options);
}

type RefusedWith = z.output<typeof refusal>['error'];

/** Refusal codes of the listener and of Symphony's API, as error codes of this program. */
const ownCodes: Readonly<Record<string, ErrorCode>> = {
  issue_not_found: 'tracker_issue_not_found',
  invalid_request: 'usage_error',
  bad_request: 'usage_error',
  unauthorized: 'token_needed',
  forbidden: 'token_needed',
  not_for_agents: 'command_refused',
};

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}
