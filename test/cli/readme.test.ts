// @module-tag full
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { baton, leaveNoPlaces, Place, startBaton } from './run-baton.ts';

leaveNoPlaces();

/** The five commands of README.md, as a shell would take them apart. */
function fiveCommands(): string[][] {
  const page = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const block = /## A first project in five commands.*?```sh\n(?<commands>.*?)```/s.exec(page)?.groups?.commands ?? '';
  return block
    .trim()
    .split('\n')
    .map((line) =>
      [...line.matchAll(/'(?<single>[^']*)'|"(?<double>[^"]*)"|(?<word>\S+)/g)].map(
        ({ groups }) => groups?.single ?? groups?.double ?? groups?.word ?? '',
      ),
    );
}

// @conforms board.22
it('the first project of the README works word for word', async () => {
  using place = new Place();
  const [init, add, dryRun, start, list] = fiveCommands().map(([program, ...args]) => {
    expect(program).toBe('baton');
    return args;
  });
  if (!init || !add || !dryRun || !start || !list) expect.fail('README has five commands');
  expect(await baton(place, ...init)).toMatchObject({ code: 0 });
  expect(await baton(place, ...add)).toMatchObject({ code: 0, stdout: 'BAT-1\n' });
  expect((await baton(place, ...dryRun)).stdout).toMatch(/^\S.* BAT-1 Say hello\n$/);
  const running = startBaton(place, ...start);
  await expect
    .poll(async () => (await baton(place, ...list)).stdout, { timeout: 25_000 })
    .toMatch(/BAT-1 .* succeeded/);
  running.child.kill('SIGINT');
  expect(await running.ended).toMatchObject({ code: 0 });
  expect((await baton(place, ...list)).stdout.trim().split('\n')).toHaveLength(1);
  const { workspace_path: workspace } = JSON.parse((await baton(place, 'runs', 'show', 'BAT-1', '--json')).stdout).run;
  expect(readFileSync(path.join(workspace, 'prompt.txt'), 'utf8')).toContain('Greet the reader of the README.');
});
