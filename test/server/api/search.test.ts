import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { excerptOf } from '../../../src/server/api/present/excerpt.ts';
import { draft, runStart } from '../../conformance/store.ts';
import { issue } from '../../fake/issues.ts';
import { begun, type Scene } from '../../orchestrator/scene.ts';
import { projectOf } from './api-scene.ts';
import { boardProject, readsOf } from './read-scene.ts';

const at = '/api/v1/projects/test/search';

async function ran(stage: Scene, runId: string, summaries: readonly string[]): Promise<void> {
  await stage.store.runs.start(runStart(runId, { project: stage.project, issueId: 'i1', identifier: 'BAT-1' }));
  await stage.store.runEvents.append(
    runId,
    summaries.map((summary, n) => ({ at: n, name: 'notification', summary })),
  );
}

describe('a search', () => {
  it('finds issues of the board by identifier, title and description, then events of the latest runs', async () => {
    const stage = await begun({ issues: [] });
    const { boardIssues } = stage.store;
    await boardIssues.create(stage.project, draft('a', { title: 'The DOOR' }), 1);
    await boardIssues.create(
      stage.project,
      draft('b', { description: `${'x '.repeat(300)}behind\nthe door ${'y'.repeat(200)}` }),
      2,
    );
    await boardIssues.create(stage.project, draft('c'), 3);
    await ran(stage, 'r1', ['opens a door', 'else']);
    await ran(stage, 'r2', ['else', 'a Door again']);
    const { results, is_cut: isCut } = await readsOf([boardProject(stage)]).get(`${at}?q=door`);
    expect(isCut).toBe(false);
    const shown = results.map((each: Record<string, unknown>) => [
      each.kind,
      each.issue_identifier,
      each.run_id,
      each.seq,
    ]);
    expect(shown).toEqual([
      ['issue', 'BAT-2', null, null],
      ['issue', 'BAT-1', null, null],
      ['transcript', 'BAT-1', 'r2', 2],
      ['transcript', 'BAT-1', 'r1', 1],
    ]);
    expect(results[0].excerpt).toMatch(/^….*behind the door y+…$/);
    expect(results[0].excerpt.length).toBeLessThan(200);
    expect(results[2]).toMatchObject({ excerpt: 'a Door again', title: null, at: '1970-01-01T00:00:00.001Z' });
  });

  it('finds issues of an external tracker among those that Baton sees', async () => {
    const stage = await begun({ issues: [issue({ id: '1', title: 'A 100% door' }), issue({ id: '2' })] });
    const { get } = readsOf([projectOf(stage)]);
    expect((await get(`${at}?q=0%25%20D`)).results).toMatchObject([{ issue_id: '1', excerpt: 'A 100% door' }]);
    expect((await get(`${at}?q=t-2`)).results).toMatchObject([{ issue_id: '2' }]);
    expect(await get(`${at}?q=%25`)).toMatchObject({ results: [{ issue_id: '1' }], is_cut: false });
  });

  it('finds no events of another project', async () => {
    const stage = await begun({ issues: [] });
    await stage.store.runs.start(runStart('theirs', { project: 'another' }));
    await stage.store.runEvents.append('theirs', [{ at: 1, name: 'n', summary: 'the door' }]);
    expect(await readsOf([projectOf(stage)]).get(`${at}?q=door`)).toEqual({ results: [], is_cut: false });
  });

  it('returns at most the requested number of each, and says that there are more', async () => {
    const stage = await begun({ issues: [] });
    for (let n = 0; n < 5; n += 1)
      await stage.store.boardIssues.create(stage.project, draft(`d${n}`, { title: 'door' }), n);
    await ran(stage, 'r1', ['door', 'door', 'door']);
    const { get } = readsOf([boardProject(stage)]);
    const two = await get(`${at}?q=door&limit=2`);
    expect(two.results.map(({ kind }: { kind: string }) => kind)).toEqual([
      'issue',
      'issue',
      'transcript',
      'transcript',
    ]);
    expect(two.is_cut).toBe(true);
    const eight = await get(`${at}?q=door&limit=5`);
    expect([eight.results.length, eight.is_cut]).toEqual([8, false]);
  });

  // @conforms api.19
  it('ends when its time is over, with the results so far', async () => {
    const stage = await begun({ issues: [] });
    await ran(stage, 'old', ['the door']);
    await ran(stage, 'r1', ['the door', ...Array.from({ length: 5_000 }, () => 'else')]);
    let asked = 0;
    // Every look at the clock takes half a second.
    const clock = {
      ...systemClock,
      schedule: systemClock.schedule.bind(systemClock),
      now: () => 0,
      monotonic: () => {
        asked += 1;
        return asked * 500;
      },
    };
    const { results, is_cut: isCut } = await readsOf([projectOf(stage)], clock).get(`${at}?q=door`);
    expect(isCut).toBe(true);
    expect(results.map(({ run_id }: { run_id: string }) => run_id)).toEqual(['r1']);
  });

  it.each(['', 'q=', 'q=%20', `q=${'x'.repeat(201)}`, 'q=x&limit=101', 'q=x&q=y'])('rejects "%s"', async (query) => {
    const { refused } = readsOf([projectOf(await begun())]);
    expect(await refused(`${at}?${query}`)).toEqual([422, 'invalid_request']);
  });
});

describe('an excerpt', () => {
  it.each([
    ['the door', 'DOOR', 'the door'],
    ['nothing', 'door', null],
    // Lower case of this letter is two characters: no place is sure any more.
    ['İİİ the door', 'door', 'İİİ the door'],
    ['a\n\n  b door', 'door', 'a b door'],
  ])('of %j around %j is %j', (whole, text, wanted) => {
    expect(excerptOf(whole, text)).toBe(wanted);
  });
});
