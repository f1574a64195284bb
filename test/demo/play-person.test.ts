import { afterEach, describe, expect, it } from 'vitest';
import type { Decision } from '../../demo/changes.ts';
import type { Announcement } from '../../demo/lines.ts';
import { playPerson } from '../../demo/play-person.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import type { OpenPull } from '../../src/core/pull/open-pull.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { ada, aRun, type BoardScene, openScene, theOrchestrator } from '../tracker/board-scene.ts';

let scene: BoardScene | null = null;
afterEach(() => scene?.close());

const green: OpenPull = {
  number: 7,
  status: 'in_review',
  checks: 'green',
  timesSentBack: 0,
  headCommit: 'c',
  judge: null,
  autoMerge: null,
};

/** An issue in review, and a person who checks it. */
async function staged(isWatched: boolean) {
  scene = await openScene();
  const { clock } = scene;
  const { board } = scene;
  const { issue } = await board.create({ title: 'One' }, ada);
  await board.move(issue.id, 'in_progress', theOrchestrator);
  await board.move(issue.id, 'review', aRun);
  const said: Announcement[] = [];
  const decided: [number, Decision['kind']][] = [];
  const stage = {
    identifier: 'WORDS-2',
    open: new Map<string, OpenPull>([[issue.id, green]]),
    hasReceived: false,
    refusal: null as BatonError | null,
  };
  const person = playPerson({
    // The demo knows its issues by name.
    board: {
      list: async (query) => (await board.list(query)).map((each) => ({ ...each, identifier: stage.identifier })),
    },
    clock,
    logger: memoryLogger(),
    say: (announcement) => said.push(announcement),
    isRunning: () => false,
    isWatched,
    open: async () => stage.open,
    decide: async (pull, { kind }) => {
      if (stage.refusal !== null) throw stage.refusal;
      decided.push([pull, kind]);
    },
    hasReceived: async () => stage.hasReceived,
    asking: () => [],
    answer: async () => {},
  });
  const look = async (): Promise<void> => {
    person.check();
    await person.idle();
  };
  return { clock, person, said, decided, look, stage, id: issue.id };
}

describe('the person that the demo plays', () => {
  // @conforms dashboard.44
  it('waits a minute for a missing change, then gives up and says why', async () => {
    const { clock, person, said, look, stage, id } = await staged(false);
    stage.open = new Map();
    await look();
    await clock.advance(59_000);
    await look();
    expect([person.hasRefused(id), person.whyRefused('WORDS-2'), said]).toEqual([false, null, []]);
    await clock.advance(1_000);
    await look();
    expect(person.hasRefused(id)).toBe(true);
    expect(person.whyRefused('WORDS-2')).toMatch(/ 1 min/);
    expect(said).toMatchObject([{ json: { identifier: 'WORDS-2', code: 'change_missing' } }]);
    await look();
    expect(said).toHaveLength(1);
  });

  it('waits for checks, then merges', async () => {
    const { look, stage, decided, id } = await staged(true);
    for (const change of [{ checks: 'waiting' }, { checks: 'red' }, { status: 'sent_back' }] as const) {
      stage.open = new Map([[id, { ...green, ...change }]]);
      await look();
    }
    expect(decided).toEqual([]);
    stage.open = new Map([[id, green]]);
    await look();
    expect(decided).toEqual([[7, 'merge']]);
  });

  it('gives up at once when a merge is refused, but not when something has moved', async () => {
    const { look, stage, person, said, id } = await staged(false);
    const refusal = (problem: string): BatonError =>
      new BatonError('command_refused', 'no', { details: { code: 'not_merged', data: { problem } } });
    stage.refusal = refusal('base_moved');
    await look();
    expect(person.hasRefused(id)).toBe(false);
    stage.refusal = refusal('conflict');
    await look();
    expect(person.hasRefused(id)).toBe(true);
    expect(said).toMatchObject([{ json: { identifier: 'WORDS-2', code: 'not_decided' } }]);
  });

  it('approves one change and sends another back once, unless a real person watches', async () => {
    const { look, stage, decided, said } = await staged(false);
    stage.identifier = 'WORDS-3';
    await look();
    stage.identifier = 'WORDS-6';
    await look();
    stage.hasReceived = true;
    await look();
    expect(decided.map(([, kind]) => kind)).toEqual(['approve', 'merge', 'send_back', 'approve', 'merge']);
    // A merge that waits in the queue is asked for again, and said once.
    await look();
    expect(decided).toHaveLength(7);
    expect(said.map(({ json }) => Object.keys(json).toSorted())).toEqual([
      ['approved', 'identifier'],
      ['comments', 'identifier', 'sent_back'],
      ['approved', 'identifier', 'words_arrived'],
    ]);
  });

  it.for(['WORDS-3', 'WORDS-6', 'WORDS-11'])('leaves %s to a real person', async (identifier) => {
    const { look, stage, decided, said } = await staged(true);
    stage.identifier = identifier;
    await look();
    expect([decided, said]).toEqual([[], []]);
  });
});
