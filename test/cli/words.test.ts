// @module-tag full
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { addIssue, answer, boardWorkflow, refusal, soon, startDaemon, stopDaemon, untilStatus } from './live-daemon.ts';
import { leaveNoPlaces, Place, type RunningBaton } from './run-baton.ts';

leaveNoPlaces();

/** It keeps each prompt, and ends when and as the file `verdict` says. */
const agent = [
  'mkdir -p prompts; cat > prompts/new; n=$(ls prompts | wc -l); mv prompts/new prompts/$n',
  'while [ ! -e verdict ]; do sleep 0.05; done; code=$(cat verdict); rm verdict; exit $code',
].join('; ');

it('words of people survive kills and failed runs, until a run that had them ended well', {
  timeout: 240_000,
}, async () => {
  using place = new Place();
  const command = `agent: {backend: command, command: ${JSON.stringify(agent)}, max_retry_backoff_ms: 1000}`;
  place.write('WORKFLOW.md', boardWorkflow().replace(/^agent: .*$/m, command));
  const workspace = path.join(place.folder, 'workspaces', 'BAT-1');
  const prompts = (): string[] => {
    const folder = path.join(workspace, 'prompts');
    if (!existsSync(folder)) return [];
    const names = readdirSync(folder).filter((name) => name !== 'new');
    return names
      .toSorted((left, right) => Number(left) - Number(right))
      .map((name) => readFileSync(path.join(folder, name), 'utf8'));
  };
  const nth = async (count: number): Promise<string> => {
    await soon(() => expect(prompts()).toHaveLength(count));
    return prompts()[count - 1] ?? '';
  };
  const ends = (code: number): void => writeFileSync(path.join(workspace, 'verdict'), `${code}`);
  const kill = async (daemon: RunningBaton): Promise<RunningBaton> => {
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    return startDaemon(place);
  };
  const messages = async () => (await answer(place, 'issue', 'show', 'BAT-1')).messages;
  const note = 'Use the other key.';

  let daemon = await startDaemon(place);
  await addIssue(place, 'Open the door.');
  await nth(1);
  await answer(place, 'issue', 'stop', 'BAT-1');
  await untilStatus(place, { held: [{ issue_identifier: 'BAT-1' }] });
  await answer(place, 'pause');
  await answer(place, 'issue', 'retry', 'BAT-1', '--note', note);
  expect(await messages()).toMatchObject([{ body: note, status: 'waiting', run_id: null }]);
  expect((await answer(place, 'explain', 'BAT-1')).messages).toMatchObject([{ body: note, status: 'waiting' }]);

  // Before the run.
  daemon = await kill(daemon);
  await answer(place, 'resume');
  expect(await nth(2)).toContain(note);
  await soon(async () => expect(await messages()).toMatchObject([{ status: 'delivered', run_id: expect.any(String) }]));

  // In its first turn.
  daemon = await kill(daemon);
  expect(await nth(3)).toContain(note);

  // After a failure.
  ends(7);
  expect(await nth(4)).toContain(note);

  // After a good end.
  ends(0);
  expect(await nth(5)).not.toContain(note);
  daemon = await kill(daemon);
  expect(await nth(6)).not.toContain(note);
  expect(await messages()).toMatchObject([{ body: note, status: 'delivered' }]);

  // A finished issue takes no words, and a move back says why.
  await answer(place, 'issue', 'move', 'BAT-1', 'done');
  await soon(async () => {
    expect(await refusal(place, 'issue', 'retry', 'BAT-1', '--note', 'too late')).toMatchObject({
      details: { code: 'issue_not_active' },
    });
  });
  await answer(place, 'issue', 'comment', 'BAT-1', 'It creaks in the morning.');
  await answer(place, 'issue', 'move', 'BAT-1', 'todo', '--reason', 'The door still creaks.');
  await soon(() => expect(prompts().at(-1)).toContain('The door still creaks.'));
  expect(prompts().at(-1)).toContain('It creaks in the morning.');
  expect((await messages()).map(({ body }: { body: string }) => body)).toEqual([note, 'The door still creaks.']);
  ends(0);
  await stopDaemon(daemon);
});
