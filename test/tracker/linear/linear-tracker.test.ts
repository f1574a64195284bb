import { expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { Blocker, Issue } from '../../../src/core/issue/issue.ts';
import { createUndiciTransport } from '../../../src/http/undici-transport.ts';
import { createLinearTracker } from '../../../src/tracker/linear/linear-tracker.ts';
import type { Tracker } from '../../../src/tracker/tracker.ts';
import { trackerConformance } from '../../conformance/tracker.ts';
import { startFakeLinear } from '../../fake/linear/fake-linear.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import { linearClient, linearSettings } from './linear-scene.ts';

async function startLinear() {
  const linear = await startFakeLinear();
  const settings = linearSettings({ endpoint: linear.url });
  const transport = createUndiciTransport({ environment: {}, userAgent: 'baton-test' });
  const logger = memoryLogger();
  const http = linearClient(settings, transport, systemClock, logger);
  const tracker = createLinearTracker({ settings, http, clock: systemClock, logger });
  const dispose = async (): Promise<void> => {
    await transport[Symbol.asyncDispose]();
    await linear[Symbol.asyncDispose]();
  };
  return { linear, tracker, settings, dispose };
}

// @conforms spec-11.1
trackerConformance('the Linear tracker', async (issues) => {
  const { linear, tracker, dispose } = await startLinear();
  linear.addUser({ name: 'Ada' });
  for (const { id, title, state, labels, priority, createdAt } of issues) {
    linear.addIssue({
      id: uuidOf(id),
      title,
      state,
      labels,
      priority: priority ?? 0,
      ...(createdAt === null ? {} : { createdAt }),
    });
  }
  for (const { id, blockedBy } of issues) {
    for (const blocker of blockedBy) linear.relate(uuidOf(blocker.id ?? ''), uuidOf(id));
  }
  return {
    tracker: withShortIds(tracker),
    move: async (id, state) => void linear.updateIssue(uuidOf(id), { state }),
    comment: async (id, body) => void linear.addComment({ issue: uuidOf(id), body, user: 'Ada' }),
    remove: async (id) => linear.remove(uuidOf(id)),
    requests: () => linear.requests.length,
    fail: (failing) => {
      linear.faults.always = failing ? { kind: 'status', status: 503, body: 'down' } : null;
    },
    dispose: async () => {
      expect(linear.complaints).toEqual([]);
      await dispose();
    },
  };
});

// @conforms L8
it('keeps its address and its key when the settings change later', async () => {
  const { linear, tracker, settings, dispose } = await startLinear();
  linear.addIssue();
  Object.assign(settings.provider, { endpoint: 'https://elsewhere.test', api_key: 'another', project_slug: 'other' });
  expect(await tracker.fetchByStates(['Todo'])).toHaveLength(1);
  await dispose();
});

it('rejects a read that takes too long, is cut off or cancelled, and works again afterwards', async () => {
  const { linear, tracker, dispose } = await startLinear();
  linear.addIssue();
  linear.faults.next.push({ kind: 'cut', where: 'in_body' }, { kind: 'cut', where: 'before_head' });
  await expect(tracker.fetchByStates(['Todo'])).rejects.toMatchObject({ code: 'tracker_request', retryable: true });
  await expect(tracker.fetchByStates(['Todo'])).rejects.toMatchObject({ code: 'tracker_request' });
  expect(linear.requests).toHaveLength(2);

  linear.faults.latencyMs = 2_500;
  const giveUp = new AbortController();
  const givenUp = tracker.fetchByStates(['Todo'], { signal: giveUp.signal });
  giveUp.abort(new Error('enough'));
  await expect(givenUp).rejects.toThrow('enough');
  await expect(tracker.fetchByStates(['Todo'])).rejects.toMatchObject({
    code: 'tracker_request',
    details: { reason: 'timed_out', provider_code: 'linear_api_request' },
  });
  linear.faults.clear();

  await linear.goDown();
  await expect(tracker.fetchByStates(['Todo'])).rejects.toMatchObject({ code: 'tracker_request' });
  await linear.comeBack();
  expect(await tracker.fetchByStates(['Todo'])).toHaveLength(1);
  await dispose();
});

/** The suite has short ids; Linear only accepts UUIDs. */
function withShortIds(tracker: Tracker): Tracker {
  const short = (issue: Issue): Issue => ({
    ...issue,
    id: shortOf(issue.id),
    blockedBy: issue.blockedBy.map(shortLink),
    ...(issue.parent == null ? {} : { parent: { ...issue.parent, id: shortOf(issue.parent.id) } }),
  });
  const shortLink = (link: Blocker): Blocker => ({ ...link, id: link.id === null ? null : shortOf(link.id) });
  const { changes, fetchComments, fetchChildren } = tracker;
  return {
    ...tracker,
    ...(fetchChildren === undefined
      ? {}
      : {
          fetchChildren: async (ids, ask) => {
            const found = await fetchChildren(ids.map(uuidOf), ask);
            return new Map([...found].map(([id, children]) => [shortOf(id), children.map(shortLink)]));
          },
        }),
    ...(fetchComments === undefined ? {} : { fetchComments: (id, ask) => fetchComments(uuidOf(id), ask) }),
    fetchByStates: async (states, ask) => (await tracker.fetchByStates(states, ask)).map(short),
    fetchByIds: async (ids, ask) => (await tracker.fetchByIds(ids.map(uuidOf), ask)).map(short),
    changes:
      changes === null
        ? null
        : {
            moveIssue: async (id, ...rest) => short(await changes.moveIssue(uuidOf(id), ...rest)),
            addComment: (id, ...rest) => changes.addComment(uuidOf(id), ...rest),
            changeLabels: async (id, ...rest) => short(await changes.changeLabels(uuidOf(id), ...rest)),
            createChildren: async ({ parentId, children, states }, ...rest) => {
              const made = await changes.createChildren?.({ parentId: uuidOf(parentId), children, states }, ...rest);
              return made?.map(short) ?? [];
            },
          },
  };
}

const ofSuite = '00000000-0000-4000-9000-';

/** Issues that the adapter creates keep their own id. */
function uuidOf(id: string): string {
  return id.includes('-') ? id : `${ofSuite}${id.padStart(12, '0')}`;
}

function shortOf(uuid: string): string {
  return uuid.startsWith(ofSuite) ? String(Number(uuid.slice(-12))) : uuid;
}
