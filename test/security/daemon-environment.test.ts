// @module-tag full
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { linearScene, secretKey } from '../cli/linear-scene.ts';
import { liveTest, soon, startDaemon, stopDaemon } from '../cli/live-daemon.ts';
import { leaveNoPlaces } from '../cli/run-baton.ts';

leaveNoPlaces();

it('the environment of a daemon that works with a key has the key no more', liveTest, async () => {
  const report = '--report-on-signal --report-signal=SIGUSR2';
  await using scene = await linearScene(
    { apiKey: '$OTHER_NAME', agent: 'backend: rehearsal' },
    { OTHER_NAME: secretKey, MY_TOKEN: secretKey, NODE_OPTIONS: report },
  );
  const { linear, place } = scene;
  const ticket = scene.file(['move Done']);
  const daemon = await startDaemon(place);
  await soon(() => expect(linear.stateOf(ticket)).toBe('Done'));
  process.kill(daemon.child.pid ?? Number.NaN, 'SIGUSR2');
  let variables: Readonly<Record<string, string>> = {};
  await soon(() => {
    const name = readdirSync(place.folder).find((each) => /^report\..*\.json$/.test(each)) ?? '';
    variables = JSON.parse(readFileSync(path.join(place.folder, name), 'utf8')).environmentVariables;
  });
  expect(variables.NODE_OPTIONS).toBe(report);
  expect(JSON.stringify(variables)).not.toContain(secretKey);
  await stopDaemon(daemon);
});
