// @module-tag full
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { batonCommand, type Ended, leaveNoPlaces, Place, startProgram } from './run-baton.ts';

leaveNoPlaces();

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const firstProject = /^## A first project\n.*?(?=^## )/ms.exec(readme)?.[0] ?? '';

/** Two screens of 55 lines with 130 characters; the targets of links are not seen. */
const screens = { lines: 2 * 55, characters: 130 };

it('the README fits on two screens', () => {
  const lines = readme
    .replaceAll(/\]\([^)]*\)/g, ']')
    .trimEnd()
    .split('\n');
  const rows = lines.map((line) => Math.max(1, Math.ceil(line.length / screens.characters)));
  expect(rows.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(screens.lines);
});

// @conforms board.22
it.each([
  ['in a repository', (folder: string) => void scratchRepository(folder)],
  ['in a new repository, which the README says how to make', () => {}],
])(
  'the first project of the README ends in a merged change, word for word, %s',
  async (_where, prepare) => {
    using place = new Place();
    const folder = path.join(place.folder, 'project');
    mkdirSync(folder);
    prepare(folder);
    chmodSync(place.write('home/bin/baton', `#!/bin/sh\nexec ${batonCommand()} "$@"\n`), 0o755);
    place.write('home/.bash_profile', 'PATH=$HOME/bin:$PATH\n');
    place.write('home/.gitconfig', '[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n');
    const typed = (command: string) => startProgram(place, 'bash', ['-lc', `cd '${folder}' && ${command}`]);
    const succeed = async (command: string): Promise<Ended> => {
      const ended = await typed(command).ended;
      expect({ command, ...ended }).toMatchObject({ command, code: 0 });
      return ended;
    };
    const [newOne] = /(?<=`)git init .*?(?=`)/.exec(firstProject) ?? [];
    if (prepare.length === 0) await succeed(newOne ?? '');
    const block = /```sh\n(?<commands>.*?)```/s.exec(firstProject)?.groups?.commands ?? '';
    const [init = '', add = '', start = '', merge = '', ...others] = block.trim().split('\n');
    expect(others).toEqual([]);

    await succeed(init);
    expect((await succeed(add)).stdout).toBe('BAT-1\n');
    const daemon = typed(`exec ${start}`);
    const issue = async () => JSON.parse((await succeed('baton issue show BAT-1 --json')).stdout).issue;
    await expect.poll(async () => (await issue()).status, { timeout: 60_000, interval: 500 }).toBe('review');
    await succeed(merge);
    expect(readFileSync(path.join(folder, 'prompt.txt'), 'utf8')).toContain('Greet the reader of the README.');
    expect(git(folder, 'show', 'main:prompt.txt')).toContain('Greet the reader of the README.');
    expect((await issue()).status).toBe('done');
    daemon.child.kill('SIGINT');
    expect(await daemon.ended).toMatchObject({ code: 0 });
    expect(place.pids()).toEqual([]);
  },
  120_000,
);
