import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import headless, { type Terminal } from '@xterm/headless';
import type { Place } from '../run-baton.ts';
import type { Scene } from './scene.ts';

export const makeTerminal = '/usr/bin/script';

/** The view on a daemon that is a file, as `play` writes it. */
export const scriptedTop = `'${process.execPath}' '${fileURLToPath(new URL('./scripted-top.ts', import.meta.url))}'`;

/** Between two looks at the screen. */
const lookEveryMs = 25;
const patienceMs = 30_000;

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * A real pseudo-terminal in which a shell runs a command, and what a person sees on it. How the command ended is in the
 * file `code`, what the terminal was set to afterwards in the file `after`.
 */
export class PseudoTerminal implements AsyncDisposable {
  readonly #place: Place;
  readonly #child: ChildProcess;
  readonly #screen: Terminal;
  readonly #ended: Promise<number | null>;
  #raw = '';

  constructor(place: Place, { columns, rows }: TerminalSize, command: string) {
    this.#place = place;
    this.#screen = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
    // What was on the screen before, and has to be there again at the end.
    // Ctrl-C is for the command, and not for the shell around it.
    const line = `trap : INT; stty cols ${columns} rows ${rows}; tty > tty; echo before; ${command}; echo $? > code; stty -a > after`;
    this.#child = spawn(makeTerminal, ['-qfec', line, '/dev/null'], {
      cwd: place.folder,
      env: place.env,
      stdio: 'pipe',
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#raw += chunk;
      this.#screen.write(chunk);
    });
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
  }

  /** From now on the daemon of `scriptedTop` says this. */
  play(scene: Scene): void {
    playScene(this.#place, scene);
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** As when a person pulls at the corner of the window. */
  async resize({ columns, rows }: TerminalSize): Promise<void> {
    this.#screen.resize(columns, rows);
    const tty = this.#place.read('tty').trim();
    await new Promise((resolve) =>
      spawn('stty', ['-F', tty, 'cols', `${columns}`, 'rows', `${rows}`]).once('close', resolve),
    );
  }

  /** As an ssh client that sleeps: nobody takes what is written any more, and the terminal is full. */
  async stopReading(): Promise<void> {
    this.#child.stdout?.pause();
    this.#child.kill('SIGSTOP');
    const fd = openSync(this.#place.read('tty').trim(), constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    // What is on its way between the two ends makes room once more.
    for (let full = 0; full < 3; full += isFull(fd) ? 1 : 0) await new Promise((resolve) => setTimeout(resolve, 50));
    closeSync(fd);
  }

  /** Somebody reads again. */
  readAgain(): void {
    this.#child.kill('SIGCONT');
    this.#child.stdout?.resume();
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(Number(this.#place.read('pid')), signal);
  }

  /** What is seen, line by line. */
  lines(): string[] {
    const { active } = this.#screen.buffer;
    return Array.from(
      { length: this.#screen.rows },
      (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
    );
  }

  /** In which column of the terminal a text begins, in the line that has the name; wide characters count as it draws them. */
  columnOf(name: string, text: string): number {
    const { active } = this.#screen.buffer;
    const row = this.lines().findIndex((line) => line.includes(name) && line.includes(text));
    const line = active.getLine(active.baseY + row);
    return Array.from({ length: this.#screen.cols }, (_, column) => column).findIndex(
      (column) => line?.translateToString(true, column).startsWith(text) === true,
    );
  }

  isAlternate(): boolean {
    return this.#screen.buffer.active.type === 'alternate';
  }

  /** Everything that was written. */
  raw(): string {
    return this.#raw;
  }

  /** Waits until it is seen. */
  async sees(text: string | RegExp): Promise<void> {
    await this.until(() => {
      const seen = this.lines().join('\n');
      return typeof text === 'string' ? seen.includes(text) : text.test(seen);
    }, `"${text}" was never seen`);
  }

  async until(isSo: () => boolean, otherwise: string): Promise<void> {
    const end = Date.now() + patienceMs;
    while (!isSo()) {
      if (Date.now() > end) throw new Error(`${otherwise}:\n${this.lines().join('\n')}`);
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  }

  asked(): { readonly project: string; readonly request: Record<string, unknown> }[] {
    if (!existsSync(`${this.#place.folder}/asked.jsonl`)) return [];
    return this.#place
      .read('asked.jsonl')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  /** Its end, with everything that it wrote on the screen. */
  async ended(): Promise<number | null> {
    const code = await this.#ended;
    await new Promise<void>((resolve) => this.#screen.write('', resolve));
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin?.end();
    this.#child.kill('SIGKILL');
    await this.#ended;
    this.#screen.dispose();
  }
}

export function playScene(place: Place, scene: Scene): void {
  place.replace('scene.json', JSON.stringify(scene));
}

/** Whether nothing more goes in; otherwise some more has. */
function isFull(fd: number): boolean {
  try {
    writeSync(fd, ' '.repeat(4_096));
    return false;
  } catch {
    return true;
  }
}
