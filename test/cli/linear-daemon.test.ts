// @module-tag full
import { describe, expect, it } from 'vitest';
import { daemonHere } from './baton-here.ts';
import { atWorkUntilLet, type LinearScene, linearScene, linesAbout } from './linear-scene.ts';
import { liveTest, runsOf, soon, startDaemon, stopDaemon } from './live-daemon.ts';
import { leaveNoPlaces } from './run-baton.ts';

leaveNoPlaces();

/** So long ago that it is not looked at again because it changed a moment ago. */
const old = { createdAt: Date.now() - 3_600_000 };

const isRunning = async (scene: LinearScene, identifiers: readonly string[]): Promise<void> =>
  expect(await scene.running()).toEqual([...identifiers].sort());

describe.concurrent('a daemon on Linear', liveTest, () => {
  // @conforms linear.15
  it('finishes an issue that appears: it runs, comments, moves, is closed, and its workspace is removed', async () => {
    await using scene = await linearScene();
    const { linear } = scene;
    const daemon = await daemonHere(scene.place);
    const ticket = scene.file([
      'move in progress',
      'write notes.txt',
      '| found it',
      'comment Found it, mended it.',
      ...atWorkUntilLet,
      'move Done',
    ]);
    await soon(() => expect(linear.commentsOf(ticket).map(({ body }) => body)).toEqual(['Found it, mended it.']));
    expect(linear.stateOf(ticket)).toBe('In Progress');
    expect(scene.place.read(`workspaces/${ticket}/notes.txt`)).toBe('found it\n');
    await scene.morePolls();
    await isRunning(scene, [ticket]);
    scene.letGoOn(ticket);
    await soon(async () =>
      expect(await scene.status()).toMatchObject({
        counts: { running: 0, retrying: 0, held: 0, skipped: 0 },
        completed: [{ issue_identifier: ticket, state: 'Done' }],
      }),
    );
    expect(linear.stateOf(ticket)).toBe('Done');
    await soon(() => expect(scene.workspaces()).toEqual([]));
    expect(await runsOf(scene.place)).toMatchObject([{ issue_identifier: ticket, outcome: 'succeeded' }]);
    // Each change once: whether a request that was sent again arrives twice nobody knows.
    expect(linear.counts()).toMatchObject({ BatonMoveIssue: 2, BatonComment: 1 });
    expect(linear.commentsOf(ticket)).toHaveLength(1);
    await daemon.stop();
    expect(linesAbout(daemon, 'job_failed')).toEqual([]);
  });

  // @conforms linear.16
  it('does not start a blocked issue until its blocker is done, also in another project, or removed', async () => {
    await using scene = await linearScene();
    const { linear } = scene;
    linear.addProject({ slugId: 'elsewhere' });
    const [here, elsewhere, unrelated] = [
      linear.addIssue({ ...old, state: 'Backlog' }).identifier,
      linear.addIssue({ ...old, state: 'Backlog', project: 'elsewhere' }).identifier,
      linear.addIssue({ ...old, state: 'Backlog' }).identifier,
    ];
    const [first, second, third] = [
      scene.file(atWorkUntilLet, old),
      scene.file(atWorkUntilLet, old),
      scene.file(atWorkUntilLet, old),
    ] as const;
    linear.addIssue({ state: 'Backlog' });
    linear.relate(here, first);
    linear.relate(elsewhere, second);
    linear.relate(unrelated, third);
    const daemon = await startDaemon(scene.place);
    await scene.morePolls();
    const waiting = {
      running: [],
      skipped: [
        { issue_identifier: first, code: 'blocked', reason: expect.stringContaining(` ${here} (Backlog)`) },
        { issue_identifier: second, code: 'blocked', reason: expect.stringContaining(` ${elsewhere} (Backlog)`) },
        { issue_identifier: third, code: 'blocked', reason: expect.stringContaining(` ${unrelated} (Backlog)`) },
      ],
    };
    // The first decision waits until the machine is examined.
    await soon(async () => expect(await scene.status()).toMatchObject(waiting));
    linear.updateIssue(here, { state: 'Done' });
    await soon(() => isRunning(scene, [first]));
    await scene.morePolls();
    await isRunning(scene, [first]);
    linear.updateIssue(elsewhere, { state: 'Canceled' });
    await soon(() => isRunning(scene, [first, second]));
    await scene.morePolls();
    await isRunning(scene, [first, second]);
    // Nothing that is listed by its time of change tells of this.
    linear.unrelate(unrelated, third, { touch: 'none' });
    await soon(() => isRunning(scene, [first, second, third]));
    expect(linear.counts()).toMatchObject({ BatonFullRead: 1 });
    await stopDaemon(daemon);
  });

  // @conforms linear.17
  it('stops exactly the runs whose issue lost its label, was moved, left the project, was archived or deleted', async () => {
    await using scene = await linearScene({
      tracker: 'required_labels: [Baton]',
      agent: 'backend: rehearsal, max_concurrent_agents: 8',
    });
    const { linear } = scene;
    linear.addProject({ slugId: 'elsewhere' });
    const labels = ['baton', 'Bug'];
    const ticket = (): string => scene.file(atWorkUntilLet, { ...old, labels });
    const fates = {
      unlabelled: ticket(),
      moved: ticket(),
      done: ticket(),
      moved_out: ticket(),
      archived: ticket(),
      trashed: ticket(),
      removed: ticket(),
      untouched: ticket(),
    };
    const never = scene.file(atWorkUntilLet, { labels: ['bug'] });
    const daemon = await daemonHere(scene.place);
    await soon(() => isRunning(scene, Object.values(fates)));
    await soon(async () => {
      const { running } = await scene.status();
      for (const each of running) expect(each).toMatchObject({ last_message: 'at work' });
    });
    expect((await scene.status()).skipped).toMatchObject([{ issue_identifier: never, code: 'missing_label' }]);

    linear.updateIssue(fates.unlabelled, { labels: ['Bug'] });
    linear.updateIssue(fates.moved, { state: 'In Review' });
    linear.updateIssue(fates.done, { state: 'Done' });
    linear.updateIssue(fates.moved_out, { project: 'elsewhere' });
    linear.archive(fates.archived);
    linear.trash(fates.trashed);
    linear.remove(fates.removed);
    await soon(() => isRunning(scene, [fates.untouched]));
    await scene.morePolls();
    await isRunning(scene, [fates.untouched]);
    const ends = (await runsOf(scene.place)).map((run) => [run.issue_identifier, run.outcome]);
    expect(Object.fromEntries(ends)).toEqual(
      Object.fromEntries(
        Object.values(fates).map((each) => [each, each === fates.untouched ? null : 'canceled_by_reconciliation']),
      ),
    );
    // Only what is over is tidied up; what may come back finds its work.
    await soon(() =>
      expect(scene.workspaces()).toEqual(
        Object.values(fates)
          .filter((each) => each !== fates.done)
          .sort(),
      ),
    );

    linear.updateIssue(fates.unlabelled, { labels });
    linear.restore(fates.archived, { touch: true });
    await soon(() => isRunning(scene, [fates.unlabelled, fates.archived, fates.untouched]));
    const runs = (await runsOf(scene.place)).map((run) => run.issue_identifier);
    expect(runs.filter((identifier) => identifier === fates.untouched)).toHaveLength(1);
    expect(runs).toHaveLength(10);
    await daemon.stop();
  });
});
