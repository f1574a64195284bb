// @module-tag full
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { withoutNamespaces } from '../fake/without-namespaces.ts';
import {
  addIssue,
  boardWorkflow,
  liveTest,
  runsOf,
  soon,
  startDaemon,
  stopDaemon,
  untilStatus,
} from './live-daemon.ts';
import { baton, leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

describe.concurrent('a restart', liveTest, () => {
  // @conforms board.13
  it('after kill -9 ends the agent of the previous daemon before it starts another, and records that', async () => {
    using place = new Place(withoutNamespaces);
    place.write('WORKFLOW.md', boardWorkflow());
    await addIssue(place, 'echo at work; setsid sleep 600 & exec sleep 600');
    const first = await startDaemon(place);
    await untilStatus(place, { running: [{ last_message: 'at work' }] });
    const before = place.pids();
    first.child.kill('SIGKILL');
    await first.ended;
    const orphans = place.pids().filter((pid) => before.includes(pid));
    expect(orphans.length).toBeGreaterThan(0);

    const second = await startDaemon(place);
    await untilStatus(place, { running: [{ last_message: 'at work' }] });
    expect(place.pids().filter((pid) => orphans.includes(pid))).toEqual([]);
    expect((await runsOf(place)).map(({ outcome, error_code }) => [outcome, error_code])).toEqual([
      ['interrupted', 'orchestrator_restarted'],
      [null, null],
    ]);
    await stopDaemon(second);
    expect(place.pids()).toEqual([]);
  });

  // @conforms claims.18
  it('finds nothing to end with pid namespaces: agents die with their daemon, whatever they did', async ({ skip }) => {
    using place = new Place();
    place.write('WORKFLOW.md', boardWorkflow());
    await addIssue(place, 'echo at work; setsid sleep 600 & exec sleep 600');
    const daemon = await startDaemon(place);
    await untilStatus(place, { running: [{ last_message: 'at work' }] });
    const isInNamespace = daemon.stderr().includes('pid_namespace"');
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    if (!isInNamespace) skip('this machine has no pid namespaces for us');
    await soon(() => expect(place.pids()).toEqual([]));
  });

  // @conforms board.21
  it('is required after an edit of project or store under a running daemon, which keeps the old ones', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', boardWorkflow());
    const daemon = await startDaemon(place);
    place.replace('WORKFLOW.md', boardWorkflow().replace('{name: live}', '{name: other}'));
    await untilStatus(place, {
      workflow_problem: { code: 'restart_needed', details: { keys: ['project.name'] } },
    });
    place.replace('WORKFLOW.md', boardWorkflow());
    await untilStatus(place, { workflow_problem: null });
    await stopDaemon(daemon);
  });
});

/** The error with which a start is refused. */
async function refusedStart(place: Place, ...args: string[]): Promise<unknown> {
  const { code, stdout } = await baton(place, 'start', ...args, '--json');
  expect(code).toBe(1);
  return JSON.parse(stdout).error;
}

it('is refused with a state folder that a symbolic link puts inside the workspaces', async () => {
  using place = new Place();
  mkdirSync(path.join(place.folder, 'inside'));
  symlinkSync(place.folder, path.join(place.folder, 'link'));
  place.write('WORKFLOW.md', boardWorkflow().replace('{root: workspaces}', '{root: link}'));
  expect(await refusedStart(place, '--state-dir', 'inside/state')).toMatchObject({
    code: 'state_inside_workspaces',
    details: { path: path.join(place.folder, 'inside/state') },
  });
});

it('is refused with a SQLite file inside the workspaces', async () => {
  using place = new Place();
  const file = path.join(place.folder, 'workspaces/BAT-1/baton.db');
  place.write('WORKFLOW.md', boardWorkflow(`store: {url: 'sqlite:${file}'}`));
  expect(await refusedStart(place)).toMatchObject({ code: 'state_inside_workspaces', details: { path: file } });
});

// @conforms F079
it('is refused with a workspace root that contains Baton itself or the source repository', async () => {
  using place = new Place();
  const above = path.resolve(import.meta.dirname, '../..');
  place.write('WORKFLOW.md', boardWorkflow().replace('{root: workspaces}', `{root: '${above}'}`));
  expect(await refusedStart(place)).toMatchObject({ code: 'state_inside_workspaces', details: { root: above } });
  mkdirSync(path.join(place.folder, 'all', 'project'), { recursive: true });
  place.replace('WORKFLOW.md', boardWorkflow().replace('{root: workspaces}', '{root: all, repo: all/project}'));
  expect(await refusedStart(place)).toMatchObject({
    code: 'state_inside_workspaces',
    details: { path: path.join(place.folder, 'all/project'), root: path.join(place.folder, 'all') },
    next_step: expect.stringContaining('`workspace.root`'),
  });
});
