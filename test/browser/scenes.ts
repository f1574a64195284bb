import { fileURLToPath } from 'node:url';
import { answer } from '../cli/live-daemon.ts';
import { Place, type RunningBaton, startBaton, startProgram } from '../cli/run-baton.ts';
import { until } from '../process/real-children.ts';
import { commit, scratchRepository } from '../workspace/git/scratch-repository.ts';

const bootstrap = fileURLToPath(new URL('../../scripts/bootstrap.mjs', import.meta.url));
const patienceMs = 60_000;

/** A daemon whose dashboard a browser can open. */
export interface Scene extends Disposable {
  readonly place: Place;
  readonly daemon: RunningBaton;
  readonly url: string;
}

/** An answer of the API of a scene. */
// biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
export async function ask({ url }: Pick<Scene, 'url'>, path: string): Promise<any> {
  return (await fetch(`${url}/api/v1/${path}`)).json();
}

/** The demo as the README starts it, with faster agents. */
export async function startDemo(): Promise<Scene> {
  const place = new Place({ BATON_REHEARSAL_SPEED: '10' });
  const daemon = startProgram(place, process.execPath, [bootstrap, 'src/cli/main.ts', 'demo', '--dir', 'demo']);
  const url = await urlIn(() => daemon.stdout(), daemon, /(?<url>http:\/\/127\.0\.0\.1:\d+)\s/);
  return { place, daemon, url, [Symbol.dispose]: () => place[Symbol.dispose]() };
}

interface SceneWish {
  /** More lines of the workflow about agents. */
  readonly agent?: readonly string[];
  readonly tracker?: string;
  readonly pollMs?: number;
}

/**
 * A daemon on its own board, with a repository and the scripted agent `rehearsal`, which carries out the script in the
 * description of an issue. It has as many slots as a test has issues at once.
 */
export class BoardScene implements Scene {
  readonly place: Place = new Place();
  #daemon: RunningBaton | undefined;
  #url = '';

  constructor({ agent = [], tracker = '{kind: board}', pollMs = 500 }: SceneWish = {}) {
    commit(scratchRepository(this.place.write('source/.keep', '').slice(0, -'/.keep'.length)), {
      'until.sh': untilFile,
    });
    this.place.write('WORKFLOW.md', workflow({ agent, tracker, pollMs }));
  }

  get daemon(): RunningBaton {
    if (this.#daemon === undefined) throw new Error('the daemon was not started');
    return this.#daemon;
  }

  get url(): string {
    return this.#url;
  }

  /** Starts the daemon; after a restart it has the same port. */
  async start(): Promise<void> {
    const daemon = startBaton(this.place, 'start');
    this.#daemon = daemon;
    this.#url = await urlIn(() => daemon.stderr(), daemon, /"dashboard":"(?<url>http:[^"]+)"/);
    await until(() => daemon.stderr().includes('orchestrator_started'), 'the daemon works', patienceMs);
  }

  /** Kills it, as a machine without memory does. */
  async kill(): Promise<void> {
    this.daemon.child.kill('SIGKILL');
    await this.daemon.ended;
  }

  /** Files an issue whose agent carries out these steps, and returns its identifier. */
  async file(title: string, steps: readonly string[], ...args: string[]): Promise<string> {
    return this.fileText(title, script(steps), ...args);
  }

  async fileText(title: string, description: string, ...args: string[]): Promise<string> {
    const { issue } = await answer(this.place, 'issue', 'add', title, '--description', description, ...args);
    return issue.identifier;
  }

  /** Lets agents continue that wait for this name. */
  allow(name: string): void {
    this.place.write(`allowed/${name}`, '');
  }

  [Symbol.dispose](): void {
    this.place[Symbol.dispose]();
  }
}

/** The step of an agent that waits until a test allows it. */
export const waitFor = (name: string): string => `run sh until.sh ${name}`;

const untilFile = 'while [ ! -e "../../allowed/$1" ]; do sleep 0.05; done\n';

/** A description with a script for the scripted agent. */
export function script(steps: readonly string[]): string {
  return ['What is to be done, in **Markdown**.', '', '```rehearsal', ...steps, '```'].join('\n');
}

function workflow({ agent, tracker, pollMs }: Required<SceneWish>): string {
  return [
    '---',
    'project: {name: live}',
    `tracker: ${tracker}`,
    `polling: {interval_ms: ${pollMs}}`,
    'workspace:',
    '  root: workspaces',
    '  repo: source',
    '  strategy: worktree',
    '  setup: |',
    '    git config user.name "Rehearsal"',
    '    git config user.email "rehearsal@example.invalid"',
    'agent:',
    '  backend: rehearsal',
    '  isolation_write: [.]',
    '  read_timeout_ms: 60000',
    '  max_concurrent_agents: 4',
    ...agent,
    '---',
    'Work on {{ issue.identifier }}: {{ issue.title }}',
    '',
    '{{ issue.description }}',
  ].join('\n');
}

async function urlIn(text: () => string, daemon: RunningBaton, pattern: RegExp): Promise<string> {
  const find = (): string | undefined => pattern.exec(text())?.groups?.url;
  await until(() => find() !== undefined || daemon.child.exitCode !== null, 'the dashboard has an address', patienceMs);
  const url = find();
  if (url === undefined) throw new Error(`it ended:\n${daemon.stdout()}${daemon.stderr()}`);
  return url;
}
