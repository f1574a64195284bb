import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { sleep } from '../src/clock/clock.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import type { LogEvent } from '../src/core/log-events.ts';
import { statusAt } from '../test/fake/ask-daemon.ts';
import type { BuiltBaton } from './built-baton.ts';
import type { LoopReport } from './watch-loop.ts';

const patienceMs = 60_000;

/** `baton start` in its own process, from its start to its orderly end. */
export class LiveDaemon implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #socket: string;
  readonly #began = performance.now();
  /** When each event was first logged, in milliseconds from the start of the process. */
  readonly #logged = new Map<string, number>();
  #errors = '';
  readonly #end = (): void => void this.#child.kill('SIGTERM');

  /** All its files are below `folder`. */
  constructor({ program, watchLoop }: BuiltBaton, workflowPath: string, folder: string) {
    const stateDir = path.join(folder, 'state');
    this.#socket = path.join(stateDir, 'baton.sock');
    this.#child = fork(program, ['start', workflowPath, '--json', '--state-dir', stateDir], {
      execArgv: ['--disable-warning=ExperimentalWarning', '--import', watchLoop],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    process.once('exit', this.#end);
    const { stderr } = this.#child;
    if (stderr !== null) createInterface({ input: stderr }).on('line', (line) => this.#hear(line));
  }

  /** Resolves to the milliseconds from the start of the process until it logged this event. */
  async logged(event: LogEvent): Promise<number> {
    await this.until(async () => this.#logged.has(event), `it never logged "${event}"`);
    return this.#logged.get(event) ?? 0;
  }

  /** The resources that the process used since the last request. */
  async report(): Promise<LoopReport> {
    const answer = once(this.#child, 'message', { signal: AbortSignal.timeout(patienceMs) });
    this.#child.send('report');
    const [report] = await answer;
    return report as LoopReport; // watch-loop.ts sends nothing else
  }

  /** The number of running agents that it reports. */
  async running(): Promise<number> {
    // Before it listens, no agent runs.
    const status = await statusAt(this.#socket).catch(() => null);
    return status?.running.length ?? 0;
  }

  async until(isSo: () => Promise<boolean>, complaint: string): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while (!(await isSo())) {
      if (this.#child.exitCode !== null || performance.now() > deadline)
        throw new Error(`a daemon failed: ${complaint}\n${this.#errors}`);
      await sleep(systemClock, 5);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#end);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#end();
    await ended;
  }

  #hear(line: string): void {
    const at = performance.now() - this.#began;
    try {
      const { event, level } = JSON.parse(line) as { event?: string; level?: string };
      if (event !== undefined && !this.#logged.has(event)) this.#logged.set(event, at);
      if (level === 'error') this.#errors += `${line}\n`;
    } catch {
      this.#errors += `${line}\n`;
    }
  }
}
