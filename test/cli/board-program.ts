import { Command } from 'commander';
import { registerIssueCommands } from '../../src/cli/issue/register.ts';
import { readWork } from '../../src/cli/issue/work-on-issue.ts';
import type { BatonError } from '../../src/core/baton-error.ts';
import type { Output } from '../../src/daemon/surroundings.ts';
import type { Board } from '../../src/tracker/board/board.ts';
import { type BoardScene, boardScene } from '../tracker/board-scene.ts';

export interface Answer {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
  /** The code of what was thrown: an error of the house, or of commander. */
  readonly error: Pick<BatonError, 'code' | 'message' | 'details'> | null;
}

export interface BoardProgram {
  readonly board: Board;
  readonly scene: BoardScene;
  /** How often the board was opened and closed. */
  readonly opened: string[];
  run(...argv: string[]): Promise<Answer>;
  /** What the next command finds on standard input. */
  stdin: string;
  terminal: { readonly isTTY?: boolean; readonly columns?: number };
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** The commands on a real board, with what they print kept. */
export async function boardProgram(): Promise<BoardProgram> {
  const scene = await boardScene();
  const opened: string[] = [];
  const program: BoardProgram = {
    board: scene.board,
    scene,
    opened,
    stdin: '',
    terminal: {},
    cwd: '/',
    env: {},
    run: async (...argv) => {
      const printed = { out: '', err: '' };
      const output = (name: 'out' | 'err'): Output => {
        const write = (text: string): boolean => {
          printed[name] += text;
          return true;
        };
        // The commands only write, and ask whether it is a terminal and how wide.
        return { write, ...program.terminal } as unknown as Output;
      };
      let exitCode: number | null = null;
      const command = new Command('baton')
        .exitOverride()
        .configureOutput({ writeErr: (text) => (printed.err += text) });
      registerIssueCommands(
        command,
        {
          open: async ({ workflow }) => {
            opened.push(`open ${workflow}`);
            return {
              board: scene.board,
              readWork: (id) => readWork(scene.store, scene.board.project, id),
              close: async () => void opened.push('close'),
            };
          },
          surroundings: {
            cwd: program.cwd,
            stdout: output('out'),
            stderr: output('err'),
            env: program.env,
            userName: 'ada',
            stdin: (async function* () {
              yield program.stdin;
            })(),
          },
        },
        (code) => {
          exitCode = code;
        },
      );
      try {
        await command.parseAsync(argv, { from: 'user' });
        return { exitCode, ...printed, error: null };
      } catch (thrown) {
        const { code, message, details } = thrown as BatonError;
        return { exitCode, ...printed, error: { code, message, details } };
      }
    },
  };
  return program;
}
