import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { issue } from '../../fake/issues.ts';
import { storeThrough } from '../faulty-store.ts';
import { gate, pair, type Scene, scene } from '../scene.ts';
import {
  bad,
  complete,
  finish,
  inPhases,
  labelsIn,
  minute,
  onlyResearch,
  phased,
  recordOf,
  relabel,
  second,
  worksOf,
} from './pipeline-scene.ts';

const events = ({ logger }: Scene, event: string) => logger.lines.filter((line) => line.event === event);

describe('the labels of the pipeline', () => {
  // @conforms 4.8
  it('are written with the first run of an issue, never to the backlog', async () => {
    const issues = ['1', '2', '3'].map((id) => issue({ id, state: id === '3' ? 'Backlog' : 'Todo' }));
    const stage = await inPhases({ issues, settings: phased({ agent: { maxConcurrentAgents: 1 } }) });
    await stage.clock.advance(minute);
    expect(['1', '2', '3'].map((id) => labelsIn(stage, id))).toEqual([['phase:research'], [], []]);
    expect(await recordOf(stage, '2')).toBeNull();
  });

  // @conforms 4.17
  it('are repaired from the store before anything starts, and the issue stays in its phase', async () => {
    const stage = await inPhases();
    await finish(stage);
    expect(labelsIn(stage)).toEqual(['phase:architecture']);
    await relabel(stage, ['phase:gone', 'bug'], ['phase:architecture']);
    await stage.clock.advance(10 * second);
    expect([labelsIn(stage).toSorted(), await recordOf(stage)]).toMatchObject([
      ['bug', 'phase:architecture'],
      { phase: 'architecture' },
    ]);
    expect(events(stage, 'phase_labels_repaired')).toHaveLength(1);
    expect([stage.runs[1]?.stops, worksOf(stage)]).toEqual([[], ['research', 'architecture']]);
  });

  it('follow each transition within a tick, with the mark of a revision', async () => {
    const stage = await inPhases({ settings: onlyResearch() });
    await finish(stage, bad);
    expect(labelsIn(stage).toSorted()).toEqual(['needs-revision', 'phase:research']);
    await finish(stage);
    expect(labelsIn(stage)).toEqual(['phase:ready']);
  });

  it('of a read that is older than the last write say nothing about a person', async () => {
    const stage = await inPhases();
    await stage.clock.advance(10 * second);
    const old = stage.tracker.all();
    const { fetchByStates, fetchByIds } = stage.tracker;
    await finish(stage);
    expect(labelsIn(stage)).toEqual(['phase:architecture']);
    // The tracker answers from a copy that does not have the write yet.
    stage.tracker.fetchByStates = async () => old;
    stage.tracker.fetchByIds = async () => old;
    await stage.clock.advance(minute);
    expect([events(stage, 'phase_moved'), await recordOf(stage)]).toMatchObject([[], { phase: 'architecture' }]);
    Object.assign(stage.tracker, { fetchByStates, fetchByIds });
    await relabel(stage, ['phase:research'], ['phase:architecture']);
    await stage.clock.advance(10 * second);
    expect(await recordOf(stage)).toMatchObject({ phase: 'research' });
  });

  it('that another daemon wrote are no command of a person, also for a daemon with an older read', async () => {
    const [one, other] = await pair({ issues: [issue({ id: '1' })], settings: phased() });
    await one.orchestrator.start();
    await other.orchestrator.start();
    await one.clock.advance(10 * second);
    const old = one.tracker.all();
    const { fetchByStates } = other.tracker;
    for (const _ of [1, 2]) {
      const [runs] = [one, other].filter(({ runs }) => runs.some(({ stops }) => stops.length === 0));
      await complete(runs?.runs.at(-1));
      runs?.runs.at(-1)?.succeed();
      // One answer in three is from before the writes.
      let nth = 0;
      other.tracker.fetchByStates = (states, ask) =>
        nth++ % 3 === 0 ? Promise.resolve(old) : fetchByStates.call(other.tracker, states, ask);
      await one.clock.advance(minute);
    }
    expect([...events(one, 'phase_moved'), ...events(other, 'phase_moved')]).toEqual([]);
    expect(await recordOf(one)).toMatchObject({ phase: 'architecture', revisions: 0 });
  });

  it('that a person changed are one command for two daemons, and end the run of the one that has the issue', async () => {
    const [one, other] = await pair({ issues: [issue({ id: '1' })], settings: phased() });
    await one.orchestrator.start();
    await one.clock.advance(10 * second);
    await other.orchestrator.start();
    await one.clock.advance(10 * second);
    await relabel(one, ['phase:grooming'], ['phase:research']);
    await one.clock.advance(10 * second);
    const moves = [...events(one, 'phase_moved'), ...events(other, 'phase_moved')];
    expect([moves.length, one.runs[0]?.stops]).toEqual([1, ['phase_moved']]);
    expect(await one.store.commands.list(one.project, 10)).toMatchObject([
      {
        kind: 'phase_move',
        author: { kind: 'person' },
        payload: { phase: 'grooming' },
        result: { status: 'done', code: 'phase_moved' },
      },
    ]);
    one.runs[0]?.end();
    await one.clock.advance(10 * second);
    expect([...worksOf(one), ...worksOf(other)]).toEqual(['research', 'grooming']);
  });

  it.each([
    ['refuses them', () => Promise.reject(new BatonError('tracker_request', 'no'))],
    ['never answers', () => new Promise<never>(() => {})],
  ])('of a tracker that %s change nothing', async (_what, answer) => {
    const stage = await inPhases({ issues: [], settings: onlyResearch() });
    Object.assign(stage.tracker.changes, { changeLabels: answer });
    stage.tracker.put(issue({ id: '1' }));
    await stage.clock.advance(10 * second);
    await finish(stage);
    expect([worksOf(stage), labelsIn(stage)]).toEqual([['research', 'work'], []]);
    expect(events(stage, 'phase_moved')).toEqual([]);
  });

  it('that the tracker does not have are left out, logged once, and written when a person created them', async () => {
    const stage = await inPhases({ issues: [], settings: onlyResearch({}, { revisionExpiryMs: 0 }) });
    const { changeLabels } = stage.tracker.changes;
    const known = new Set(['needs-revision']);
    let asked = 0;
    Object.assign(stage.tracker.changes, {
      changeLabels: (...words: Parameters<typeof changeLabels>) => {
        asked += 1;
        const labels = (words[1].add ?? []).filter((label) => !known.has(label));
        if (labels.length === 0) return changeLabels(...words);
        return Promise.reject(new BatonError('tracker_label_unknown', 'no', { details: { labels } }));
      },
    });
    stage.tracker.put(issue({ id: '1' }));
    await stage.clock.advance(10 * second);
    await finish(stage, bad);
    expect(labelsIn(stage)).toEqual(['needs-revision']);
    expect(events(stage, 'phase_label_missing')).toMatchObject([{ fields: { label: 'phase:research' } }]);
    const before = asked;
    await stage.clock.advance(minute);
    expect(asked).toBe(before);
    // A person takes the mark away, although the label of the phase is missing.
    await relabel(stage, [], ['needs-revision']);
    await stage.clock.advance(10 * second);
    expect([labelsIn(stage), await recordOf(stage)]).toMatchObject([[], { phase: 'research', revisionSince: null }]);
    known.add('phase:research');
    await stage.clock.advance(11 * minute);
    expect(labelsIn(stage)).toEqual(['phase:research']);
    expect(events(stage, 'phase_label_missing')).toHaveLength(1);
    expect(events(stage, 'phase_moved')).toEqual([]);
  });

  it('that a tracker refused once are written at the next try, which comes soon', async () => {
    const stage = await inPhases({ issues: [] });
    const { changeLabels } = stage.tracker.changes;
    let asked = 0;
    Object.assign(stage.tracker.changes, {
      changeLabels: (...words: Parameters<typeof changeLabels>) => {
        asked += 1;
        if (asked === 1) return Promise.reject(new BatonError('tracker_request', 'no'));
        return changeLabels(...words);
      },
    });
    stage.tracker.put(issue({ id: '1' }));
    await stage.clock.advance(30 * second);
    expect([labelsIn(stage), asked]).toEqual([['phase:research'], 2]);
  });

  it('that were written by a daemon that died before it knew are its own', async () => {
    const isDown = { now: false };
    const stage = await inPhases({
      through: (store) =>
        storeThrough(store, {
          before: (call) => {
            if (isDown.now && call === 'phases.setMirrored') throw new BatonError('store_busy', 'busy');
          },
        }),
    });
    await stage.clock.advance(10 * second);
    isDown.now = true;
    await finish(stage);
    // The label is there, but Baton does not know it; then the store moves on.
    expect([labelsIn(stage), await recordOf(stage)]).toMatchObject([
      ['phase:architecture'],
      { mirrored: ['phase:research'], mirroring: { labels: ['phase:architecture'] } },
    ]);
    await complete(stage.runs[1]);
    stage.kill();
    const { store, clock, tracker } = stage;
    const next = await scene({ store, clock, tracker, settings: phased() });
    await next.orchestrator.start();
    await clock.advance(20 * second);
    expect([labelsIn(next), await recordOf(next)]).toMatchObject([
      ['phase:architecture'],
      { phase: 'architecture', mirroring: null },
    ]);
    expect(events(next, 'phase_moved')).toEqual([]);
  });

  it('of a write whose answer was lost are removed with the next one', async () => {
    const stage = await inPhases({ issues: [] });
    const { changeLabels } = stage.tracker.changes;
    let isLost = true;
    Object.assign(stage.tracker.changes, {
      changeLabels: async (...words: Parameters<typeof changeLabels>) => {
        const after = await changeLabels(...words);
        if (isLost) throw new BatonError('tracker_request', 'the answer was lost');
        return after;
      },
    });
    // The polls do not have the label yet.
    const old = issue({ id: '1' });
    const { fetchByStates, fetchByIds } = stage.tracker;
    Object.assign(stage.tracker, { fetchByStates: async () => [old], fetchByIds: async () => [old] });
    stage.tracker.put(old);
    await stage.clock.advance(6 * second);
    expect(labelsIn(stage)).toEqual(['phase:research']);
    isLost = false;
    await finish(stage);
    Object.assign(stage.tracker, { fetchByStates, fetchByIds });
    await stage.clock.advance(20 * second);
    expect([labelsIn(stage), await recordOf(stage)]).toMatchObject([['phase:architecture'], { phase: 'architecture' }]);
    expect(events(stage, 'phase_moved')).toEqual([]);
  });

  it('that a person changed while they are written count when the write has ended', async () => {
    const stage = await inPhases();
    await stage.clock.advance(10 * second);
    const { changeLabels } = stage.tracker.changes;
    const slow = gate();
    Object.assign(stage.tracker.changes, {
      changeLabels: async (...words: Parameters<typeof changeLabels>) => {
        await slow.passed;
        return changeLabels(...words);
      },
    });
    await finish(stage);
    Object.assign(stage.tracker.changes, { changeLabels });
    await relabel(stage, ['phase:ready'], ['phase:research']);
    await stage.clock.advance(10 * second);
    expect(await recordOf(stage)).toMatchObject({ phase: 'architecture' });
    slow.open();
    await stage.clock.advance(10 * second);
    expect([labelsIn(stage), await recordOf(stage)]).toMatchObject([['phase:ready'], { phase: 'ready' }]);
  });

  it('that mark a phase to be skipped count until a person sends the issue back before it', async () => {
    const stage = await inPhases();
    await finish(stage, undefined, 'ready');
    expect(labelsIn(stage).toSorted()).toEqual(['phase:ready', 'skip:architecture', 'skip:grooming']);
    await relabel(stage, ['phase:research'], ['phase:ready']);
    await stage.clock.advance(10 * second);
    expect(labelsIn(stage)).toEqual(['phase:research']);
    stage.runs[1]?.end();
    await stage.clock.advance(10 * second);
    await relabel(stage, ['skip:architecture'], []);
    await stage.clock.advance(10 * second);
    await finish(stage);
    expect(worksOf(stage)).toEqual(['research', 'work', 'research', 'grooming']);
  });
});
