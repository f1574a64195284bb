import { describe, expect, it } from 'vitest';
import { issue } from '../../fake/issues.ts';
import { besides, pair, type Scene, scene } from '../scene.ts';
import {
  bad,
  claimsOf,
  complete,
  finish,
  inPhases,
  judge,
  minute,
  onlyResearch,
  phased,
  recordOf,
  relabel,
  second,
  worksOf,
} from './pipeline-scene.ts';

/** The daemon is killed, and another one starts on the same store. */
async function restarted(stage: Scene): Promise<Scene> {
  stage.kill();
  const { store, clock, tracker } = stage;
  const next = await scene({ store, clock, tracker, settings: stage.file.settings });
  await next.orchestrator.start();
  await clock.advance(10 * second);
  return next;
}

describe('a completion claim', () => {
  // @conforms 4.16
  it('is decided with the end of its run, before anything else starts', async () => {
    const stage = await inPhases({ settings: phased({ agent: { maxConcurrentAgents: 1 } }) });
    expect(await complete(stage.runs[0])).toEqual([]);
    expect([await claimsOf(stage), await recordOf(stage)]).toMatchObject([['research pending'], { phase: 'research' }]);
    stage.runs[0]?.succeed();
    await stage.clock.advance(0);
    expect([await claimsOf(stage), await recordOf(stage)]).toMatchObject([
      ['research advanced'],
      { phase: 'architecture', revisions: 0 },
    ]);
    expect(worksOf(stage)).toEqual(['research', 'architecture']);
  });

  it.each(['fail', 'crash'] as const)('counts when its agent had an end like %s afterwards', async (end) => {
    const stage = await inPhases();
    await complete(stage.runs[0]);
    stage.runs[0]?.[end]();
    await stage.clock.advance(minute);
    expect(await claimsOf(stage)).toEqual(['research advanced']);
    expect(await recordOf(stage)).toMatchObject({ phase: 'architecture' });
  });

  it('or its absence is in the log with the end of the run', async () => {
    const stage = await inPhases();
    stage.runs[0]?.succeed();
    await stage.clock.advance(minute);
    await complete(stage.runs[1]);
    stage.runs[1]?.succeed();
    await stage.clock.advance(0);
    const ends = stage.logger.lines.filter(({ event }) => event === 'run_succeeded');
    expect(ends.map(({ fields }) => [fields.phase, fields.completed])).toEqual([
      ['research', false],
      ['research', true],
    ]);
  });

  // @conforms 4.122, 4.44
  it('whose daemon died is decided by the next one, in the first step of a tick', async () => {
    const stage = await inPhases();
    await complete(stage.runs[0]);
    const next = await restarted(stage);
    expect(await claimsOf(next)).toEqual(['research advanced']);
    expect(worksOf(next)).toEqual(['architecture']);
    expect(next.runs[0]?.request).toMatchObject({ retryKind: null, attempt: null });
    // The first daemon was only frozen: what it writes about its run does not count.
    stage.runs[0]?.succeed();
    await expect(complete(stage.runs[0])).rejects.toMatchObject({ code: 'claim_lost' });
    await next.clock.advance(minute);
    expect([await claimsOf(next), await recordOf(next)]).toMatchObject([
      ['research advanced'],
      { phase: 'architecture' },
    ]);
  });

  it('that falls short and whose daemon died goes back once, and to a person after too many times', async () => {
    let stage = await inPhases({ settings: onlyResearch({}, { maxRevisions: 1 }) });
    await complete(stage.runs[0], bad);
    stage = await restarted(stage);
    expect([await claimsOf(stage), await recordOf(stage)]).toMatchObject([['research revise'], { revisions: 1 }]);
    expect(stage.runs[0]?.request.phase?.reasons).toHaveLength(1);
    await complete(stage.runs[0], bad);
    stage = await restarted(stage);
    expect(await claimsOf(stage)).toEqual(['research revise', 'research person']);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'revisions_exhausted' }]);
    expect(worksOf(stage)).toEqual([]);
  });

  it('is decided once by two daemons that both find it', async () => {
    const settings = phased({ agent: { maxConcurrentAgents: 1 } });
    const [one, other] = await pair({ issues: [issue({ id: '1' })], settings });
    await one.orchestrator.start();
    await one.clock.advance(0);
    await complete(one.runs[0], bad);
    one.kill();
    const third = await besides(one, { settings, owner: 'third' });
    await other.orchestrator.start();
    await third.orchestrator.start();
    await one.clock.advance(2 * minute);
    expect([await claimsOf(one), await recordOf(one)]).toMatchObject([['research revise'], { revisions: 1 }]);
    expect([...worksOf(other), ...worksOf(third)]).toEqual(['research']);
  });

  it('that another daemon decided lets this one start the next phase', async () => {
    const settings = phased({ agent: { maxConcurrentAgents: 1 } });
    const [one, other] = await pair({ issues: [issue({ id: '1' })], settings });
    await one.orchestrator.start();
    await one.clock.advance(10 * second);
    await other.orchestrator.start();
    await one.clock.advance(10 * second);
    expect([worksOf(one), worksOf(other)]).toEqual([['research'], []]);
    await complete(one.runs[0]);
    await one.command('pause');
    one.runs[0]?.succeed();
    await one.clock.advance(10 * second);
    expect(await recordOf(one)).toMatchObject({ phase: 'architecture' });
    await other.command('resume');
    one.kill();
    await one.clock.advance(2 * minute);
    expect(worksOf(other)).toEqual(['architecture']);
  });

  it('on a shared store leaves the wait after a failure of the next phase as it is', async () => {
    const settings = phased({ agent: { maxConcurrentAgents: 1 } });
    const [one] = await pair({ issues: [issue({ id: '1' })], settings });
    await one.orchestrator.start();
    await one.clock.advance(10 * second);
    await complete(one.runs[0]);
    one.runs[0]?.succeed();
    // The next run fails before a tick has compared the phases again.
    while (one.runs.length < 2) await new Promise(setImmediate);
    one.runs[1]?.fail();
    await one.clock.advance(9 * second);
    expect(worksOf(one)).toEqual(['research', 'architecture']);
    await one.clock.advance(10 * second);
    expect(worksOf(one)).toEqual(['research', 'architecture', 'architecture']);
  });

  it('is withdrawn when a person moved its issue meanwhile', async () => {
    const stage = await inPhases();
    await stage.clock.advance(10 * second);
    await complete(stage.runs[0]);
    await relabel(stage, ['phase:grooming'], ['phase:research']);
    await stage.clock.advance(10 * second);
    expect(stage.runs[0]?.stops).toEqual(['phase_moved']);
    expect(await claimsOf(stage)).toEqual(['research withdrawn']);
    stage.runs[0]?.end();
    await stage.clock.advance(10 * second);
    expect([await recordOf(stage), worksOf(stage)]).toMatchObject([{ phase: 'grooming' }, ['research', 'grooming']]);
  });

  it('of a phase that the issue left does not count, and holds nothing', async () => {
    const stage = await inPhases({ settings: phased({}, { maxRevisions: 0 }) });
    await stage.clock.advance(10 * second);
    await relabel(stage, ['phase:ready'], ['phase:research']);
    await stage.clock.advance(10 * second);
    // The agent did not hear of the move yet.
    expect(await complete(stage.runs[0])).toMatchObject([{ code: 'wrong_phase', phase: 'ready' }]);
    stage.runs[0]?.succeed();
    await stage.clock.advance(10 * second);
    expect([await claimsOf(stage), worksOf(stage)]).toEqual([['research withdrawn'], ['research', 'work']]);
    expect(stage.orchestrator.read().held).toEqual([]);
  });
});

describe('a revision', () => {
  // @conforms 4.93
  it('gets the reasons and the artifact so far, and counts', async () => {
    const stage = await inPhases({ settings: onlyResearch() });
    await finish(stage, bad);
    const { phase, retryKind } = stage.runs[1]?.request ?? {};
    expect([retryKind, phase?.current, phase?.reasons.length]).toEqual(['revision', bad, 1]);
    expect(await recordOf(stage)).toMatchObject({ revisions: 1, revisionSince: expect.any(Number) });
    await finish(stage);
    expect(await recordOf(stage)).toMatchObject({ phase: 'ready', revisions: 0, revisionSince: null });
    expect(stage.runs[2]?.request.phase?.earlier).toMatchObject([{ phase: 'research' }]);
  });

  it('has an end: the issue waits for a person, whose retry gives new revisions', async () => {
    const stage = await inPhases({ settings: onlyResearch() });
    for (let nth = 0; nth < 3; nth += 1) await finish(stage, bad);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'revisions_exhausted' }]);
    await stage.clock.advance(5 * minute);
    expect(worksOf(stage)).toHaveLength(3);
    await stage.command('issue_retry', { issue: '1' });
    await stage.clock.advance(10 * second);
    expect(stage.runs[3]?.request.phase?.reasons).toHaveLength(1);
    for (let nth = 0; nth < 2; nth += 1) await finish(stage, bad);
    expect([worksOf(stage).length, stage.orchestrator.read().held]).toEqual([6, []]);
    await finish(stage, bad);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'revisions_exhausted' }]);
  });

  // @conforms 4.9
  it('that is open for too long loses its mark and keeps its reasons', async () => {
    const stage = await inPhases({ settings: onlyResearch({}, { maxRevisions: 0, revisionExpiryMs: 3 * minute }) });
    await finish(stage, bad);
    expect(await recordOf(stage)).toMatchObject({ phase: 'research', revisionSince: expect.any(Number) });
    await stage.clock.advance(2 * minute);
    expect(await recordOf(stage)).not.toMatchObject({ revisionSince: null });
    await stage.clock.advance(2 * minute);
    expect(await recordOf(stage)).toMatchObject({ phase: 'research', revisionSince: null });
    await stage.command('issue_retry', { issue: '1' });
    await stage.clock.advance(10 * second);
    expect(stage.runs[1]?.request.phase?.reasons).toHaveLength(1);
  });
});

describe('the judge of an artifact', () => {
  async function judged(): Promise<Scene> {
    const stage = await inPhases({ settings: onlyResearch({ validation: 'judge' }) });
    await finish(stage);
    expect([await claimsOf(stage), worksOf(stage)]).toEqual([['research judging'], ['research', 'judge of research']]);
    return stage;
  }

  // @conforms 4.95
  it('lets the issue go on, or sends it back with its findings', async () => {
    const stage = await judged();
    judge(stage.runs[1], 'rejected');
    await stage.clock.advance(10 * second);
    expect(stage.runs[2]?.request).toMatchObject({ role: 'phase', retryKind: 'revision' });
    expect(stage.runs[2]?.request.phase?.reasons).toHaveLength(2);
    await finish(stage);
    judge(stage.runs[3], 'approved');
    await stage.clock.advance(10 * second);
    expect(await claimsOf(stage)).toEqual(['research revise', 'research advanced']);
    expect(worksOf(stage)).toEqual(['research', 'judge of research', 'research', 'judge of research', 'work']);
  });

  it('that dies leaves the claim open for another judge', async () => {
    const stage = await judged();
    stage.runs[1]?.fail();
    await stage.clock.advance(minute);
    expect(worksOf(stage).slice(1)).toEqual(['judge of research', 'judge of research']);
    const next = await restarted(stage);
    expect([await claimsOf(next), worksOf(next)]).toEqual([['research judging'], ['judge of research']]);
  });

  it('has nothing to say when a person moved the issue', async () => {
    const stage = await judged();
    await relabel(stage, ['phase:ready'], ['phase:research']);
    await stage.clock.advance(10 * second);
    judge(stage.runs[1], 'rejected');
    await stage.clock.advance(10 * second);
    expect([await claimsOf(stage), worksOf(stage).at(-1)]).toEqual([['research withdrawn'], 'work']);
    expect(await recordOf(stage)).toMatchObject({ phase: 'ready', revisions: 0 });
  });
});
