import { expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { done } from '../../src/core/command/command-answers.ts';
import { countOld, pruneStore } from '../../src/store/prune-store.ts';
import type { Store } from '../../src/store/store.ts';
import { onEngine, project, runStart } from '../conformance/store.ts';
import { engines } from './engines.ts';
import { cause } from './notification-cause.ts';
import { pullDraft } from './pull-draft.ts';

const day = 86_400_000;
const now = 100 * day;
const keepAll = { now, runsOlderThanMs: null, commandsOlderThanMs: null, requestMinutesOlderThanMs: null, step: 3 };

for (const engine of engines) {
  onEngine(engine, 'prunes', ({ open }) => {
    it('data past its retention in small steps, and returns the run ids', async () => {
      const store = await open();
      await fill(store);
      const steps: number[] = [];
      const olderThanMs = 30 * day;
      const retention = {
        ...{ now, runsOlderThanMs: olderThanMs, commandsOlderThanMs: olderThanMs },
        ...{ requestMinutesOlderThanMs: olderThanMs, step: 3 },
      };
      const { artifactBytes, ...planned } = await countOld(store, retention);
      const pruned = await pruneStore(watched(store, steps), systemClock, retention);
      // A plan says exactly what a prune removes, and afterwards there is nothing to remove.
      expect({ ...planned, runIds: planned.runIds.toSorted() }).toEqual(pruned);
      expect(artifactBytes).toBe(4);
      const rest = await countOld(store, retention);
      expect(Object.values({ ...rest, runIds: rest.runIds.length })).toEqual(Array(12).fill(0));
      expect(pruned).toEqual({
        runIds: ['old-0', 'old-1', 'old-2', 'old-3', 'old-4'],
        events: 35,
        questions: 4,
        messages: 4,
        commands: 4,
        requestMinutes: 5,
        notifications: 4,
        finished: 4,
        checks: 4,
        tasks: 7,
        artifacts: 4,
      });
      expect(Math.max(...steps)).toBe(3);
      expect((await store.runs.list(project, { limit: 99 })).map(({ runId }) => runId)).toEqual(['live', 'young']);
      expect(await store.runEvents.list('young', { limit: 99 })).toHaveLength(7);
      expect(await store.commands.list(project, 99)).toHaveLength(2);
      const left = (await store.questions.list(project, { limit: 99 })).map(({ id }) => id);
      expect(left.toSorted()).toEqual(['open', 'young']);
      const messages = await store.messages.list({ project, issueId: 'i' }, 99);
      expect(messages.map(({ id }) => id)).toEqual(['waits', 'young']);
      expect((await store.notifications.open(project)).map(({ cause }) => cause.key)).toEqual(['still so']);
      const finished = await store.finishedIssues.latest(project, { from: 0, limit: 99 });
      expect(finished.map(({ issueId }) => issueId)).toEqual(['a month ago']);
      const checksLeft = await Promise.all([1, 2].map((number) => store.checks.list({ project, number })));
      expect(checksLeft.map((each) => each.map(({ name }) => name))).toEqual([['young', 'unfinished'], ['old']]);
      const issues = ['merged', 'merged lately', 'in work'];
      const versions = await Promise.all(issues.map((issueId) => store.artifacts.list({ project, issueId })));
      expect(versions.map((each) => each.length)).toEqual([1, 5, 5]);
      const tasks = await store.tasks.list(project, { limit: 99 });
      expect(tasks.map(({ id }) => id.split(':')[1] ?? '').toSorted()).toEqual(
        [...Array.from({ length: 7 }, (_, at) => `s${at + 3}`), 'open', 'waits', 'young'].toSorted(),
      );
      expect((await store.requestCounts.sum({ bucket: 'minute', from: 0, to: now }))[0]?.count).toBe(1);
      expect((await store.requestCounts.sum({ bucket: 'day', from: 0, to: now }))[0]?.count).toBe(6);
    });

    it('nothing with unlimited retention, except notifications and finished issues that no one needs', async () => {
      const store = await open();
      await fill(store);
      expect(await pruneStore(store, systemClock, keepAll)).toEqual({
        runIds: [],
        events: 0,
        questions: 0,
        messages: 0,
        commands: 0,
        requestMinutes: 0,
        notifications: 4,
        finished: 4,
        checks: 0,
        tasks: 0,
        artifacts: 0,
      });
      expect(await store.runs.list(project, { limit: 99 })).toHaveLength(7);
    });

    it('no further after a stop, and the rest the next time', async () => {
      const store = await open();
      await fill(store);
      const stop = new AbortController();
      const steps: number[] = [];
      const stopping = watched(store, steps, () => stop.abort());
      await pruneStore(stopping, systemClock, { ...keepAll, runsOlderThanMs: 30 * day }, stop.signal);
      expect(steps).toEqual([3]);
      const rest = await pruneStore(store, systemClock, { ...keepAll, runsOlderThanMs: 30 * day });
      expect(rest).toMatchObject({ events: 32, runIds: { length: 5 } });
    });
  });
}

/** The same store, noting how much each step on events and runs removed. */
function watched(store: Store, steps: number[], onStep: () => void = () => {}): Store {
  return {
    ...store,
    runEvents: {
      ...store.runEvents,
      prune: async (before, limit) => {
        const removed = await store.runEvents.prune(before, limit);
        steps.push(removed);
        onStep();
        return removed;
      },
    },
  };
}

async function fill(store: Store): Promise<void> {
  const end = { outcome: 'succeeded', errorCode: null, errorMessage: null } as const;
  const ended = { 'old-0': 1, 'old-1': 2, 'old-2': 3, 'old-3': 4, 'old-4': 5, young: 80 };
  for (const runId of [...Object.keys(ended), 'live']) {
    await store.runs.start(runStart(runId, { startedAt: runId === 'live' ? 2_000 : 1_000 }));
    await store.runEvents.append(
      runId,
      Array.from({ length: 7 }, () => ({ at: 1, name: 'n', summary: 's' })),
    );
  }
  for (const [runId, days] of Object.entries(ended)) await store.runs.finish(runId, 1, { ...end, endedAt: days * day });
  const author = { kind: 'orchestrator' } as const;
  const question = { kind: 'input', text: 't', detail: '', fields: [] } as const;
  for (const id of ['q0', 'q1', 'q2', 'q3', 'open', 'young']) {
    const askedAt = id === 'young' ? 80 * day : day;
    await store.questions.ask({ project, issueId: 'i', identifier: 'i', runId: 'r', id, askedAt, question });
    if (id !== 'open') await store.questions.close(id, askedAt);
  }
  await fillMessages(store);
  for (const key of ['n0', 'n1', 'n2', 'n3', 'still so']) {
    await store.notifications.see(project, [{ target: 't', cause: cause(key) }], day, 0);
  }
  await store.notifications.see(project, [{ target: 't', cause: cause('still so') }], 80 * day, 0);
  for (const issueId of ['l0', 'l1', 'l2', 'l3', 'a month ago']) {
    const at = issueId === 'a month ago' ? now - 30 * day : now - 30 * day - 1;
    await store.finishedIssues.note(
      { project, issueId, identifier: 'i', title: null, url: null, state: 'Done', at },
      0,
    );
  }
  await fillChecks(store);
  await fillArtifacts(store);
  await fillTasks(store);
  for (let index = 0; index < 6; index++) {
    await store.commands.submit({ id: `c${index}`, project, kind: 'k', payload: {}, author, at: 1, key: null });
    if (index < 5) await store.commands.finish(`c${index}`, { at: index, ...done('paused', '') });
    const labels = { provider: 'p', route: '/r', method: 'GET', statusClass: '2xx', job: 'j', cause: 'c' };
    await store.requestCounts.add({ ...labels, at: index < 5 ? index * 60_000 : 90 * day, bytes: 1, latencyMs: 1 });
  }
}

/** The first pull request ended, the second is open. */
async function fillChecks({ pullRequests, checks }: Store): Promise<void> {
  const ended = await pullRequests.open(pullDraft('ended'));
  const open = await pullRequests.open(pullDraft('open'));
  const end = { result: 'passed', exitCode: 0, output: '' } as const;
  const names = ['old-0', 'old-1', 'old-2', 'old-3', 'young', 'unfinished'];
  await checks.plan(
    ended,
    'c',
    names.map((name) => ({ name, command: 'true' })),
  );
  for (const name of names.slice(0, 5))
    await checks.end(ended, 'c', name, { ...end, at: name === 'young' ? 80 * day : day });
  await checks.plan(open, 'c', [{ name: 'old', command: 'true' }]);
  await checks.end(open, 'c', 'old', { ...end, at: day });
  await pullRequests.close(ended, { at: 2 * day, by: { kind: 'orchestrator' } });
}

/** Only one issue was merged long ago; one of its artifacts is from after that. */
async function fillArtifacts({ pullRequests, artifacts }: Store): Promise<void> {
  const by = { kind: 'orchestrator' } as const;
  for (const [issueId, mergedAt] of [
    ['merged', 2 * day],
    ['merged lately', 80 * day],
    ['in work', null],
  ] as const) {
    for (const at of [1, 2, 3, 4, 80 * day])
      await artifacts.add({ project, issueId }, { phase: 'a', text: `${at}`, author: by, at });
    const pull = await pullRequests.open(pullDraft(issueId));
    if (mergedAt !== null) await pullRequests.merged(pull, { at: mergedAt, by, commit: 'c', method: 'merge' });
  }
}

/** Of ten old scans the latest seven say how long the pause is. One task is young, one waits for its agent, one for a person. */
async function fillTasks({ tasks }: Store): Promise<void> {
  const author = { kind: 'orchestrator' } as const;
  const add = async (kind: 'intake' | 'scan' | 'setup', name: string, createdAt: number): Promise<string> => {
    const id = `${kind}:${name}`;
    await tasks.add(project, { id, kind, title: name, text: '', author, createdAt });
    return id;
  };
  for (let at = 0; at < 10; at += 1)
    await tasks.decide({ project, taskId: await add('scan', `s${at}`, at) }, 'refused', null, day);
  const error = { code: 'agent_exited', message: '' };
  for (const kind of ['intake', 'setup'] as const) {
    await tasks.decide({ project, taskId: await add(kind, 'accepted', 1) }, 'accepted', null, day);
    await tasks.fail({ project, taskId: await add(kind, 'failed', 1) }, error, day);
  }
  await tasks.decide({ project, taskId: await add('intake', 'young', 1) }, 'accepted', null, 80 * day);
  await tasks.propose({ project, taskId: await add('intake', 'open', 1) }, null, day);
  await add('intake', 'waits', 1);
}

async function fillMessages({ messages }: Store): Promise<void> {
  const author = { kind: 'orchestrator' } as const;
  for (const id of ['m0', 'm1', 'm2', 'm3', 'waits', 'young']) {
    await messages.leave({ project, issueId: 'i' }, { id, at: 1, kind: 'check', author, body: id });
    if (id === 'waits') continue;
    await messages.give([id], 'r');
    await messages.settle({ project, issueId: 'i' }, 'r', id === 'young' ? 80 * day : day);
  }
}
