// @module-tag full
import { chmodSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { commit, git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { batonCommand, leaveNoPlaces, Place, startProgram } from './run-baton.ts';

leaveNoPlaces();

const page = readFileSync(new URL('../../docs/agents/command.md', import.meta.url), 'utf8');

it('the complete example of docs/agents/command.md commits its work and moves its issue to review', async () => {
  const [example = ''] = /^## A complete example\n.*?(?=^## )/ms.exec(page) ?? [];
  const program = /```sh\n(?<text>.*?)```/s.exec(example)?.groups?.text ?? '';
  const init = /(?<=`)baton init [^`]*(?=`)/.exec(example)?.[0] ?? '';
  using place = new Place();
  const project = scratchRepository(path.join(place.folder, 'project'));
  chmodSync(place.write('project/my-agent', program), 0o755);
  commit(project, {}, 'Add an agent');
  chmodSync(place.write('home/bin/baton', `#!/bin/sh\nexec ${batonCommand()} "$@"\n`), 0o755);
  place.write('home/.bash_profile', 'PATH=$HOME/bin:$PATH\n');
  place.write('home/.gitconfig', '[user]\n\tname = A\n\temail = a@example.org\n');
  const typed = (command: string) => startProgram(place, 'bash', ['-lc', `cd '${project}' && ${command}`]);
  for (const command of [init, 'baton issue add "Greet the reader"'])
    expect({ command, ...(await typed(command).ended) }).toMatchObject({ command, code: 0 });
  const daemon = typed('exec baton start --max-runs 1');
  const issue = async () => JSON.parse((await typed('baton issue show BAT-1 --json').ended).stdout).issue;
  await expect.poll(async () => (await issue()).status, { timeout: 60_000, interval: 500 }).toBe('review');
  expect(git(project, 'show', 'baton/bat-1:hello.txt')).toBe('Hello, reader!');
  daemon.child.kill('SIGINT');
  expect(await daemon.ended).toMatchObject({ code: 0 });
  expect(place.pids()).toEqual([]);
}, 120_000);
