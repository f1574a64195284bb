// @module-tag full
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Scenario } from '../fake/acp/scenario.ts';
import { writeFakeAcp } from '../fake/acp/write-fake-acp.ts';
import { describeWithAcp } from '../real/acp-programs.ts';
import { folderOnDisk } from '../temporary-folder.ts';
import { baton, leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

/** What the doctor finds about the agent of this section. */
async function examine(place: Place, section: object, agent: object = {}): Promise<unknown> {
  const front = {
    tracker: { kind: 'board' },
    workspace: { root: 'workspaces' },
    agent: { backend: 'acp', ...agent },
    acp: section,
  };
  place.write('WORKFLOW.md', `---\n${JSON.stringify(front)}\n---\nWork.`);
  const { stdout } = await baton(place, 'doctor', 'WORKFLOW.md', '--json');
  expect(place.pids()).toEqual([]);
  const { findings } = JSON.parse(stdout) as { findings: { check: string }[] };
  return findings.find(({ check }) => check === 'acp');
}

const play = (place: Place, scenario: Scenario): object => ({
  command: writeFakeAcp(path.join(place.folder, 'fake'), scenario).command,
});

it('tells apart an agent that works, wants a login, has no such mode, does not start, and is not there', async () => {
  using place = new Place({}, folderOnDisk());
  const isolation = { isolation: 'none' };
  expect(await examine(place, play(place, {}), isolation)).toMatchObject({
    status: 'ok',
    code: 'untested',
    details: { version: '0.0.0' },
  });
  const refusal = { code: -32000, message: 'Authentication required' };
  expect(await examine(place, play(place, { refuses: { 'session/new': refusal } }), isolation)).toMatchObject({
    status: 'failed',
    code: 'logged_out',
  });
  expect(await examine(place, { ...play(place, {}), mode: 'work' }, isolation)).toMatchObject({
    status: 'failed',
    code: 'does_not_start',
    details: { mode: 'work' },
  });
  expect(await examine(place, { command: 'false' }, isolation)).toMatchObject({ code: 'does_not_start' });
  expect(await examine(place, { command: 'no-such-agent-anywhere' }, isolation)).toMatchObject({ code: 'not_found' });
}, 90_000);

await describeWithAcp('baton doctor', (program) => {
  it('reports a working agent, isolated as in a run, and asks no model', async () => {
    await using model = await program.startModel();
    using other = new Place();
    const env = program.login(other.home, model.url);
    using place = new Place(env, folderOnDisk());
    program.login(place.home, model.url);
    const agent = { env: Object.keys(env), isolation_read: [program.folder] };
    expect(await examine(place, { preset: program.preset, command: program.command }, agent)).toMatchObject({
      status: 'ok',
      code: 'ok',
      details: { version: program.version },
    });
    expect(model.requests).toEqual([]);
  });
});
