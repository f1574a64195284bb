import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { onTestFinished } from 'vitest';
import { registerIssueCommands } from '../../src/cli/issue/register.ts';
import { ApiClient } from '../../src/client/api-client.ts';
import { inProcess } from '../../src/client/send.ts';
import type { BatonError } from '../../src/core/baton-error.ts';
import { workflowContext } from '../../src/daemon/adapters.ts';
import { openStoredApi } from '../../src/daemon/services/stored-project.ts';
import type { Output, Surroundings } from '../../src/daemon/surroundings.ts';
import type { Workplace } from '../../src/daemon/workplace.ts';
import type { Board } from '../../src/tracker/board/board.ts';
import { loadWorkflow } from '../../src/workflow/load-workflow.ts';
import { seededChance } from '../fake/seeded-chance.ts';
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
  /** The run that calls; null: a person does. */
  runId: string | null;
}

/** The commands on a real board where no daemon runs, with what they print kept. */
export async function boardProgram(): Promise<BoardProgram> {
  const scene = await boardScene();
  const chance = seededChance(2);
  const fetch = await storedApi(scene, { clock: scene.clock, chance, userName: 'ada', version: '0', hostName: 'here' });
  const opened: string[] = [];
  const program: BoardProgram = {
    board: scene.board,
    scene,
    opened,
    stdin: '',
    terminal: {},
    cwd: '/',
    runId: null,
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
          connect: async ({ workflow, as = 'ada' }) => {
            opened.push(`open ${workflow}`);
            const { runId } = program;
            const author = runId === null ? ({ kind: 'person', name: as } as const) : ({ kind: 'run', runId } as const);
            const client = new ApiClient(inProcess(fetch), { author });
            const [described] = await client.projects();
            if (described === undefined) throw new Error('there is no project');
            const close = async (): Promise<void> => void opened.push('close');
            return { project: client.project('test'), described, [Symbol.asyncDispose]: close };
          },
          surroundings: {
            batonPath: 'baton',
            env: {},
            chance,
            cwd: program.cwd,
            stdout: output('out'),
            stderr: output('err'),
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

/** The API over the store of a scene. */
async function storedApi(
  { store, board }: BoardScene,
  surroundings: Pick<Surroundings, 'clock' | 'chance' | 'userName' | 'version' | 'hostName'>,
) {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'baton-program-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const file = path.join(stateDir, 'WORKFLOW.md');
  writeFileSync(file, '---\nproject: {name: test}\ntracker: {kind: board}\n---\nWork.\n');
  // What these commands use of a workplace and of the machine.
  const machine = { env: {}, homeDir: stateDir, tmpDir: stateDir, timeZone: 'UTC', ...surroundings } as Surroundings;
  const workflow = loadWorkflow(file, workflowContext(machine, stateDir));
  const workplace = { workflow, store, project: { id: board.project }, remote: { views: () => [] }, stateDir };
  return openStoredApi(workplace as unknown as Workplace, machine);
}
