import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect } from 'vitest';
import { transcriptFiles } from '../../src/store/transcripts/transcript-files.ts';
import { stateFolderOf } from '../cli/live-daemon.ts';
import { Place, type RunningBaton } from '../cli/run-baton.ts';
import { claudeHome, fakeModelVariables } from '../fake/anthropic/claude-home.ts';
import { startFakeAnthropic } from '../fake/anthropic/fake-anthropic.ts';
import type { FakeModel } from '../fake/fake-model.ts';
import { codexHome } from '../fake/openai/codex-home.ts';
import { startFakeOpenAi } from '../fake/openai/fake-openai.ts';
import type { Scenario } from '../fake/openai/scenario.ts';
import { patiently } from '../fault/patience.ts';
import { leftIn, type ProcessWatch, watchProcesses } from '../fault/process-watch.ts';
import { type Row, readStore } from '../fault/store-file.ts';
import { folderOnDisk } from '../temporary-folder.ts';
import { commit, git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import type { AcpProgram } from './acp-programs.ts';
import type { ClaudeBinary } from './claude-binary.ts';
import type { CodexBinary } from './codex-binary.ts';

export interface E2eChoices {
  /** The section `tracker` of the workflow, in one line of YAML. */
  readonly tracker: string;
  /** Further lines below `codex:`. */
  readonly codex?: readonly string[];
  /** Further lines below `agent:`. */
  readonly agent?: readonly string[];
  /** Further lines of the front matter. */
  readonly more?: readonly string[];
  readonly env?: Record<string, string>;
}

/** A real agent: its backend, what makes its private home, and the lines of its section in the workflow. */
interface SceneAgent {
  readonly backend: string;
  readonly home: (folder: string, url: string) => unknown;
  /** It has a folder for an account. */
  readonly hasHome?: boolean;
  readonly section: readonly string[];
}

/**
 * A person's repository with a small test suite that fails, a daemon whose agent is a real one with a private home, and
 * a model with the answers of the test. Remaining processes are ended with it.
 */
export class E2eScene implements AsyncDisposable {
  readonly place: Place;
  readonly model: FakeModel;
  readonly source: string;
  /** Watches every process of a run from the start. */
  readonly watch: ProcessWatch;

  constructor({ backend, home, section, hasHome = true }: SceneAgent, model: FakeModel, choices: E2eChoices) {
    const { tracker, agent = [], more = [], env = {} } = choices;
    this.model = model;
    this.place = new Place(env, folderOnDisk());
    this.source = scratchRepository(path.join(this.place.folder, 'project'));
    commit(this.source, { 'greet.sh': 'echo Good day\n', 'test.sh': testSuite }, 'A greeting that is not wanted');
    home(this.place.folder, model.url);
    this.place.write('home/.gitconfig', '[user]\n\tname = An Agent\n\temail = agent@example.invalid\n');
    this.place.write(
      'WORKFLOW.md',
      [
        '---',
        'project: {name: real}',
        `tracker: {${tracker}}`,
        'polling: {interval_ms: 300, jobs: {pull_requests: {interval_ms: 1000}}}',
        'workspace: {root: workspaces, repo: project, base: main}',
        ...more,
        'agent:',
        `  backend: ${backend}`,
        ...(hasHome ? [`  accounts: [{name: private, home: ./${backend}-home}]`] : []),
        '  read_timeout_ms: 60000',
        '  max_retry_backoff_ms: 500',
        ...agent.map((line) => `  ${line}`),
        `${backend}:`,
        ...section.map((line) => `  ${line}`),
        '---',
        'Work on {{ issue.identifier }}: {{ issue.title }}',
      ].join('\n'),
    );
    this.watch = watchProcesses(this.place.folder);
  }

  query(statement: string): Row[] {
    return readStore(this.place, statement);
  }

  /** The runs, oldest first. */
  runs(): Row[] {
    return this.query('select * from runs order by started_at');
  }

  /** Resolves when the model was asked this many times in all. */
  async untilAsked(times: number, daemon: RunningBaton): Promise<void> {
    await patiently(() => expect(this.model.requests.length, daemon.stderr()).toBeGreaterThanOrEqual(times));
  }

  /** Resolves when the store has the thread of the current run and this many tokens for it. */
  async untilCounted(tokens: number, daemon: RunningBaton): Promise<void> {
    await patiently(() => {
      const known = { thread_id: expect.any(String), total_tokens: tokens };
      expect(this.runs().at(-1), daemon.stderr()).toMatchObject(known);
    });
  }

  /** Kills the daemon without any notice, as a machine would. */
  async kill(daemon: RunningBaton): Promise<void> {
    const isInNamespace = daemon.stderr().includes('pid_namespace"');
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    // Otherwise the next daemon ends them before it starts anything.
    if (isInNamespace) await patiently(() => expect(leftIn(this.place.folder)).toEqual([]));
  }

  /** Waits until no run is in progress. */
  async untilQuiet(daemon: RunningBaton): Promise<void> {
    await patiently(() => {
      const open = this.runs().filter((run) => run.ended_at === null);
      expect(open, daemon.stderr()).toEqual([]);
    });
  }

  /** The result of the repository's tests on a branch, in a separate checkout. */
  testsOn(branch: string): { readonly isGreen: boolean; readonly said: string } {
    const folder = path.join(this.place.folder, `checkout-${branch.replaceAll('/', '-')}`);
    git(this.source, 'clone', '--quiet', '--branch', branch, this.source, folder);
    try {
      return { isGreen: true, said: execFileSync('sh', ['test.sh'], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }) };
    } catch (error) {
      return { isGreen: false, said: String((error as { stdout?: unknown }).stdout) };
    }
  }

  /** The transcript of a run, one event per line; an invalid line fails the test. */
  async transcript(runId: unknown): Promise<Record<string, unknown>[]> {
    const reader = transcriptFiles(path.join(stateFolderOf(this.place), 'transcripts'));
    const { lines } = await reader.read(String(runId), { limit: 10_000 });
    return lines.map((line) => JSON.parse(line));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.watch[Symbol.dispose]();
    this.place[Symbol.dispose]();
    await this.model[Symbol.asyncDispose]();
  }
}

const testSuite = `said=$(sh greet.sh)
if [ "$said" = "Hello" ]; then echo "1 test, all green"; else echo "greet.sh said $said"; exit 1; fi
`;

export async function e2eScene(codex: CodexBinary, scenario: Scenario, choices: E2eChoices): Promise<E2eScene> {
  const section = [`command: "'${codex.path}' app-server"`, ...(choices.codex ?? [])];
  return new E2eScene({ backend: 'codex', home: codexHome, section }, await startFakeOpenAi(scenario), choices);
}

export async function claudeE2eScene(claude: ClaudeBinary, scenario: Scenario, choices: E2eChoices): Promise<E2eScene> {
  const model = await startFakeAnthropic(scenario);
  const section = [`command: "'${claude.path}'"`, 'model: claude-opus-5-5', 'allowed_tools: [Bash]'];
  const env = { ...fakeModelVariables(model.url), ...choices.env };
  return new E2eScene({ backend: 'claude', home: claudeHome, section }, model, { ...choices, env });
}

export async function acpE2eScene(program: AcpProgram, scenario: Scenario, choices: E2eChoices): Promise<E2eScene> {
  const model = await program.startModel(scenario);
  const section = [`preset: ${program.preset}`, `command: ${JSON.stringify(program.command)}`];
  // The variables are the same in every home.
  using other = new Place();
  const own = program.login(other.home, model.url);
  const agent = [
    'approvals: auto',
    `env: [${Object.keys(own).join(', ')}]`,
    `isolation_read: ['${program.folder}']`,
    ...(choices.agent ?? []),
  ];
  const home = (folder: string, url: string): unknown => program.login(path.join(folder, 'home'), url);
  const scene = { backend: 'acp', home, section, hasHome: false };
  return new E2eScene(scene, model, { ...choices, agent, env: { ...own, ...choices.env } });
}
