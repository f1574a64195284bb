import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { answer, soon, startDaemon, stopDaemon } from '../../cli/live-daemon.ts';
import { baton, jsonLines, Place, type RunningBaton } from '../../cli/run-baton.ts';
import type { Scenario, Step } from '../../fake/app-server/scenario.ts';
import { type FakeAppServer, writeFakeAppServer } from '../../fake/app-server/write-fake-app-server.ts';
import type { FakeLinear } from '../../fake/linear/fake-linear.ts';
import { statusNow } from '../../fault/fault-daemon.ts';

export interface DaemonWishes {
  /** What each ticket's app-server does, by a name of the test's own. They are filed in this order: BAT-1, BAT-2, … */
  readonly tickets: Readonly<Record<string, Scenario>>;
  /** Lines of the front matter. Of Codex nothing but its command is told, unless they say more. */
  readonly settings?: readonly string[] | ((place: Place) => readonly string[]);
  /** Behind `codex.command`; the words after the program, or more keys of its section. */
  readonly codex?: { readonly args?: string; readonly keys?: readonly string[] };
  readonly env?: Readonly<Record<string, string>>;
  /** Files the tickets before the daemon starts; on the board unless said otherwise. */
  readonly prepare?: (place: Place, names: readonly string[]) => void | Promise<void>;
}

/** Everything starts slowly on a busy machine; only a test about it makes this short. */
export const patientAgent = 'read_timeout_ms: 25000, max_retry_backoff_ms: 600000';

/** The agent hands its ticket over by Baton's own tool, as a real one would. */
export const handOver: Step = {
  ask: {
    id: 900,
    method: 'item/tool/call',
    params: { callId: 'hand-over', tool: 'update_issue_status', arguments: { status: 'review' } },
  },
};

/** A ticket whose agent does this and hands over. */
export const ticket = (...steps: readonly Step[]): Scenario => ({ turns: [{ steps: [...steps, handOver] }] });

/** Holds a turn open until the test lets it go on; the agent hears nothing meanwhile. */
export const untilLet: Step = { run: 'while [ ! -e go-on ]; do sleep 0.05; done' };

/** A daemon for a group of tests, stopped behind them: nothing of it may be left, and it may not have met a defect. */
export function useDaemon(wishes: () => DaemonWishes): () => CodexDaemon {
  let daemon: CodexDaemon | null = null;
  beforeAll(async () => {
    daemon = await CodexDaemon.start(wishes());
  }, 90_000);
  afterAll(async () => {
    try {
      await daemon?.stop();
    } finally {
      daemon?.place[Symbol.dispose]();
    }
  }, 90_000);
  return () => daemon ?? expect.fail('the daemon was started');
}

export interface ToldRun {
  readonly run_id: string;
  readonly issue_identifier: string;
  readonly outcome: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly attempt: number | null;
  readonly retry_kind: string | null;
  readonly turns: number;
  readonly session_id: string | null;
  readonly workspace_path: string;
}

/**
 * A real daemon, a process of its own, on Baton's board unless the settings name another tracker. Its agents are scripted app-servers,
 * one scenario a ticket, found by the variable that Baton gives every agent.
 */
export class CodexDaemon {
  readonly place: Place;
  readonly #names: readonly string[];
  readonly #fakes: readonly FakeAppServer[];
  readonly process: RunningBaton;

  private constructor(place: Place, names: readonly string[], fakes: readonly FakeAppServer[], process: RunningBaton) {
    this.place = place;
    this.#names = names;
    this.#fakes = fakes;
    this.process = process;
  }

  static async start({ tickets, codex = {}, env, prepare, ...wishes }: DaemonWishes): Promise<CodexDaemon> {
    const place = new Place(env);
    const { settings = [] } = wishes;
    const lines = typeof settings === 'function' ? settings(place) : settings;
    const names = Object.keys(tickets);
    const fakes = Object.values(tickets).map((scenario, at) => writeFake(place, `BAT-${at + 1}`, scenario));
    const keys = [`command: ${JSON.stringify(commandOf(place, codex.args))}`, ...(codex.keys ?? [])];
    const front = [
      'agent: {}',
      'tracker: {kind: board}',
      'polling: {interval_ms: 3600000}',
      'workspace: {root: workspaces}',
    ];
    const section = (line: string): string => line.slice(0, line.indexOf(':'));
    const own = front.filter((line) => !lines.some((each) => section(each) === section(line))).map(lettingWrite);
    const text = [...own, ...lines.map(lettingWrite), 'codex:', ...keys.map((key) => `  ${key}`)];
    place.write('WORKFLOW.md', ['---', ...text, '---', 'Work on {{ issue.identifier }}: {{ issue.title }}'].join('\n'));
    await (prepare ?? fileOnBoard)(place, names);
    return new CodexDaemon(place, names, fakes, await startDaemon(place));
  }

  idOf(name: string): string {
    return `BAT-${this.#at(name) + 1}`;
  }

  /** What the app-servers of a ticket were sent. */
  fake(name: string): FakeAppServer {
    return this.#fakes[this.#at(name)] ?? expect.fail(`there is no ticket ${name}`);
  }

  #at(name: string): number {
    const at = this.#names.indexOf(name);
    expect(at, `there is a ticket ${name}`).toBeGreaterThanOrEqual(0);
    return at;
  }

  /** What a command of `baton` answers as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
  tell(...args: string[]): Promise<any> {
    return answer(this.place, ...args);
  }

  /** The runs of a ticket, oldest first, as `baton runs list` tells them. */
  async runs(name: string): Promise<readonly ToldRun[]> {
    return (await this.tell('runs', 'list', '--issue', this.idOf(name))).runs.toReversed();
  }

  /** As `runs`, as soon as the ticket's agent has worked and is gone. */
  async endedRuns(name: string): Promise<readonly ToldRun[]> {
    await this.untilEnded(name);
    return this.runs(name);
  }

  async untilEnded(name: string): Promise<void> {
    await soon(async () => {
      expect(this.hasStarted(name), this.process.stderr()).toBe(true);
      const { running } = await this.status();
      expect(running.map((each: { issue_identifier: string }) => each.issue_identifier)).not.toContain(this.idOf(name));
    });
  }

  hasStarted(name: string): boolean {
    return this.fake(name).trace().length > 0;
  }

  /** The events of a ticket's newest run, as `baton runs log` tells them. */
  async events(name: string): Promise<{ readonly event: string; readonly message: string }[]> {
    const { code, stdout } = await baton(this.place, 'runs', 'log', this.idOf(name), '--json');
    expect(code).toBe(0);
    return jsonLines(stdout) as { event: string; message: string }[];
  }

  // biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
  async status(): Promise<any> {
    return statusNow(this.place);
  }

  /** Resolves when the status has these parts about the ticket, in a list of that name. */
  async until(list: 'running' | 'held' | 'questions' | 'waiting_quota' | 'retrying', name: string): Promise<void> {
    await soon(async () => {
      const entries: { issue_identifier: string }[] = (await this.status())[list];
      expect(
        entries.map((each) => each.issue_identifier),
        this.process.stderr(),
      ).toContain(this.idOf(name));
    });
  }

  /** What the status tells of a held ticket. */
  async held(name: string): Promise<{ readonly code: string; readonly reason: string }> {
    await this.until('held', name);
    const { held } = (await this.tell('status')).status;
    return held.find((each: { issue_identifier: string }) => each.issue_identifier === this.idOf(name));
  }

  /** Answers the question of a ticket as soon as its agent waits for it; gives the question as `baton ask list` told it. */
  async answer(name: string, text: string, words: string): Promise<Readonly<Record<string, unknown>>> {
    const id = this.idOf(name);
    const asked = expect.objectContaining({ issue_identifier: id, text: expect.stringContaining(text) });
    await soon(async () => expect((await this.status()).questions, this.process.stderr()).toContainEqual(asked));
    const { questions } = await this.tell('ask', 'list');
    expect(await this.tell('ask', 'answer', id, words)).toMatchObject({ command: { status: 'done' } });
    return questions.find((each: { issue_identifier: string }) => each.issue_identifier === id);
  }

  /** Lets a turn go on that waits `untilLet`. */
  letGoOn(name: string): void {
    this.place.write(`workspaces/${this.idOf(name)}/go-on`, '');
  }

  async stop(): Promise<void> {
    expect(await this.status()).toMatchObject({ errors: [], workflow_problem: null });
    await stopDaemon(this.process);
    expect(this.place.pids()).toEqual([]);
  }
}

/** Stops a daemon and the Linear it asked, of which it may have asked nothing wrong. */
export async function stopWithLinear(daemon: CodexDaemon, linear: FakeLinear): Promise<void> {
  try {
    await daemon.stop();
  } finally {
    daemon.place[Symbol.dispose]();
    await linear[Symbol.asyncDispose]();
  }
  expect(linear.complaints).toEqual([]);
}

/** Files one issue a name, in their order. */
async function fileOnBoard(place: Place, names: readonly string[]): Promise<void> {
  place.write('tickets.jsonl', names.map((title) => JSON.stringify({ title })).join('\n'));
  await answer(place, 'issue', 'import', 'tickets.jsonl');
}

/** The scripted app-servers keep their traces next to the workflow file. */
function lettingWrite(line: string): string {
  return line.replace(/^agent: \{/, 'agent: {isolation_write: [.], ');
}

function writeFake(place: Place, id: string, scenario: Scenario): FakeAppServer {
  const folder = path.join(place.folder, 'fakes', id);
  mkdirSync(folder, { recursive: true });
  return writeFakeAppServer(folder, scenario);
}

/** One command for all tickets: the shell puts in whose it is; where there is none, as for `doctor`, a plain one. */
function commandOf(place: Place, args = ''): string {
  const { command } = writeFake(place, 'ID', {});
  return `${command.replaceAll('/ID/', `/'"${'$'}{BATON_ISSUE_IDENTIFIER:-ID}"'/`)} ${args}`.trim();
}
