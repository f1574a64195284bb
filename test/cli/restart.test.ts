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
  it('after kill -9 ends the agent of the earlier life before it starts another, and writes that down', async () => {
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

  it('finds nothing to end where agents live in pid namespaces: they die with their daemon, whatever they did', async ({
    skip,
  }) => {
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

  it('is asked for when project or store are edited under a running daemon, which goes on with the old ones', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', boardWorkflow());
    const daemon = await startDaemon(place);
    place.replace('WORKFLOW.md', boardWorkflow().replace('{name: live}', '{name: other}'));
    await untilStatus(place, {
      workflow_problem: { code: 'restart_needed', message: expect.stringContaining('project.name') },
    });
    place.replace('WORKFLOW.md', boardWorkflow());
    await untilStatus(place, { workflow_problem: null });
    await stopDaemon(daemon);
  });
});

it('a state folder that a symbolic link leads into the workspaces is refused', async () => {
  using place = new Place();
  mkdirSync(path.join(place.folder, 'inside'));
  symlinkSync(place.folder, path.join(place.folder, 'link'));
  place.write('WORKFLOW.md', boardWorkflow().replace('{root: workspaces}', '{root: link}'));
  const { code, stderr } = await baton(place, 'start', '--state-dir', 'inside/state');
  expect(code).toBe(1);
  expect(stderr).toContain('state_inside_workspaces');
});

it('F079: a workspace root that holds Baton itself, or the repository that everything comes from, is refused', async () => {
  using place = new Place();
  const above = path.resolve(import.meta.dirname, '../..');
  place.write('WORKFLOW.md', boardWorkflow().replace('{root: workspaces}', `{root: '${above}'}`));
  expect(await baton(place, 'start')).toMatchObject({ code: 1, stderr: expect.stringContaining('where agents write') });
  mkdirSync(path.join(place.folder, 'all', 'project'), { recursive: true });
  place.replace('WORKFLOW.md', boardWorkflow().replace('{root: workspaces}', '{root: all, repo: all/project}'));
  const { code, stderr } = await baton(place, 'start');
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('all/project is inside') });
  expect(stderr).toContain('workspace.root');
});
