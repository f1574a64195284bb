import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { daemonAt, statusAt } from '../fake/ask-daemon.ts';
import { type FakeLinear, startFakeLinear } from '../fake/linear/fake-linear.ts';
import type { NewIssue } from '../fake/linear/workspace.ts';
import { batonHere } from './baton-here.ts';
import { soon, stateFolderOf } from './live-daemon.ts';
import { jsonLines, Place, type RunningBaton } from './run-baton.ts';

/** The key of every fake Linear here; long and strange, so that nothing else looks like it. */
export const secretKey = 'lin_api_Zq7vUn3wK9xT5mB1rE8yH2cD6gJ4pL0s';

export interface Wishes {
  /** Beside kind, endpoint and project, in one line of YAML: `required_labels: [baton]`. */
  readonly tracker?: string;
  readonly polling?: string;
  /** Beside the backend. */
  readonly agent?: string;
  readonly apiKey?: string;
  readonly projectSlug?: string;
  readonly project?: string;
}

/**
 * A workflow on Linear, asked five times a second. Its agent acts out the script in the description of the issue. The
 * key is in the environment.
 */
export function linearWorkflow(url: string, wishes: Wishes = {}): string {
  const { apiKey = '$LINEAR_API_KEY', projectSlug = 'baton', project = 'live' } = wishes;
  const { polling = 'interval_ms: 200', agent = 'backend: rehearsal' } = wishes;
  const tracker = [`kind: linear, project_slug: ${projectSlug}`, ...(wishes.tracker ?? '').split('\n').filter(Boolean)];
  return [
    '---',
    `project: {name: ${project}}`,
    `tracker: {${[...tracker, `provider: {endpoint: "${url}", api_key: ${apiKey}}`].join(', ')}}`,
    `polling: {${polling}}`,
    'workspace: {root: workspaces}',
    `agent: {${agent}, isolation_write: [.]}`,
    '---',
    '{{ issue.description }}',
  ].join('\n');
}

/** A place with a workflow on a fake Linear of its own. Whatever is left of both is ended with it. */
export class LinearScene implements AsyncDisposable {
  readonly linear: FakeLinear;
  readonly place: Place;

  constructor(linear: FakeLinear, place: Place) {
    this.linear = linear;
    this.place = place;
  }

  /** Replaces the workflow file; a key and an address in it wait for a person (`letCount`). */
  useWorkflow(wishes: Wishes): void {
    this.place.replace('WORKFLOW.md', linearWorkflow(this.linear.url, wishes));
  }

  /** Resolves when the changes of the workflow file count: at once where agents are isolated from it, else by a person. */
  async letCount(): Promise<void> {
    const { code, stdout } = await batonHere(this.place, 'reload', '--json');
    if (code !== 0) expect(JSON.parse(stdout).error.details).toMatchObject({ code: 'nothing_to_reload' });
  }

  /** Files a ticket whose run acts out these steps. */
  file(steps: readonly string[], more: NewIssue = {}): string {
    const description = ['```rehearsal', ...steps, '```'].join('\n');
    return this.linear.addIssue({ description, ...more }).identifier;
  }

  /** Lets the run of a ticket go on that was told to be `atWorkUntilLet`. */
  letGoOn(identifier: string): void {
    this.place.write(`let/${identifier}`, '');
  }

  /** Resolves when so many more requests have arrived: what was to happen by polls has had its chance. */
  async morePolls(times = 5): Promise<void> {
    const before = this.linear.requests.length;
    await soon(() => expect(this.linear.requests.length).toBeGreaterThanOrEqual(before + times));
  }

  /** As every command does that changes something. */
  async wake(): Promise<void> {
    await (await daemonAt(this.#socket())).storeChanged('written');
  }

  // biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
  async status(): Promise<any> {
    return statusAt(this.#socket());
  }

  /** What the daemon says of each service that it asks. */
  async providers() {
    return (await (await daemonAt(this.#socket())).requests(1)).providers;
  }

  /** The identifiers of what runs, sorted. */
  async running(): Promise<string[]> {
    const { running } = await this.status();
    return running.map(({ issue_identifier }: { issue_identifier: string }) => issue_identifier).sort();
  }

  /** The workspaces that are there. */
  workspaces(): string[] {
    try {
      return readdirSync(path.join(this.place.folder, 'workspaces'))
        .filter((name) => !name.startsWith('.'))
        .sort();
    } catch {
      return [];
    }
  }

  #socket(): string {
    return path.join(stateFolderOf(this.place), 'baton.sock');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.place[Symbol.dispose]();
    await this.linear[Symbol.asyncDispose]();
    // Whatever the test saw, the fake must have been able to answer it.
    expect(this.linear.complaints).toEqual([]);
  }
}

/** Steps of a ticket at work until `letGoOn`. */
export const atWorkUntilLet = ['say at work', 'run sh ../../until-let.sh'];

const untilLet = 'name=$(basename "$PWD"); while [ ! -e "../../let/$name" ]; do sleep 0.05; done\n';

export async function linearScene(wishes: Wishes = {}, env: Record<string, string> = {}): Promise<LinearScene> {
  const linear = await startFakeLinear({ apiKey: secretKey });
  const place = new Place({ LINEAR_API_KEY: secretKey, ...env });
  place.write('until-let.sh', untilLet);
  place.write('WORKFLOW.md', linearWorkflow(linear.url, wishes));
  return new LinearScene(linear, place);
}

/** The whole lines of the log so far. */
export function logOf(daemon: Pick<RunningBaton, 'stderr'>): Record<string, unknown>[] {
  return jsonLines(daemon.stderr().slice(0, daemon.stderr().lastIndexOf('\n') + 1));
}

export function linesAbout(daemon: Pick<RunningBaton, 'stderr'>, event: string): Record<string, unknown>[] {
  return logOf(daemon).filter((line) => line.event === event);
}

/** The files below a folder that have this text in them, however deep, whatever they are. */
export function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}
