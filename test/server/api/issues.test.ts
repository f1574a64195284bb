import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { done, refused } from '../../../src/core/command/command-answers.ts';
import type { BoardStatus } from '../../../src/core/issue/board-status.ts';
import type { ApiProject } from '../../../src/server/api/api-project.ts';
import { presentNow } from '../../../src/server/api/present/present-now.ts';
import { draft } from '../../conformance/store.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { begun, type Scene } from '../../orchestrator/scene.ts';
import { runs } from '../../property-runs.ts';
import { telling } from '../../telling.ts';
import { projectOf } from './api-scene.ts';
import { boardProject, readsOf } from './read-scene.ts';

const at = '/api/v1/projects/test/issues';
const me = { kind: 'person', name: 'me' } as const;

async function onBoard(stage: Scene, id: string, over: Parameters<typeof draft>[1] = {}, when = 1_000): Promise<void> {
  await stage.store.boardIssues.create(stage.project, draft(id, over), when);
}

const idsOf = (list: { issues: readonly { id: string }[] }): string[] => list.issues.map(({ id }) => id);

/** Every page after the other; a page may be empty. */
async function walk(
  get: (address: string) => Promise<{ issues: { id: string }[]; next: string | null }>,
  query: string,
) {
  const seen: string[] = [];
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null; pages += 1) {
    if (pages > 500) throw new Error('the pages do not end');
    const page: { issues: { id: string }[]; next: string | null } = await get(
      `${at}?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    seen.push(...idsOf(page));
    cursor = page.next;
  }
  return seen;
}

describe('the issue list of the board', () => {
  it('comes from the store, filtered, with the activity of Baton for each issue', async () => {
    const stage = await begun({ issues: [issue({ id: 'run', identifier: 'BAT-9' })] });
    await onBoard(stage, 'run', { status: 'in_progress', title: 'Mend the door', labels: ['ui'], priority: 1 }, 5);
    await onBoard(stage, 'old', { status: 'done', title: '100% done', description: 'A door too' }, 9);
    await onBoard(stage, 'new', { blockerIds: ['run'] }, 7);
    const { get, refused } = readsOf([boardProject(stage)]);
    const list = await get(at);
    expect(idsOf(list)).toEqual(['old', 'new', 'run']);
    expect(list.issues[1]).toMatchObject({ blockers: [{ id: 'run', state: 'in_progress' }], activity: null });
    expect(list.issues[2]).toMatchObject({ activity: 'running', priority: 1, labels: ['ui'], state: 'in_progress' });
    expect(idsOf(await get(`${at}?state=In%20Progress`))).toEqual(['run']);
    expect(idsOf(await get(`${at}?state=done&state=todo`))).toEqual(['old', 'new']);
    expect(idsOf(await get(`${at}?q=DOOR`))).toEqual(['old', 'run']);
    expect(idsOf(await get(`${at}?q=0%25%20d`))).toEqual(['old']);
    expect(idsOf(await get(`${at}?label=UI`))).toEqual(['run']);
    expect(idsOf(await get(`${at}?priority=1`))).toEqual(['run']);
    expect(idsOf(await get(`${at}?priority=none`))).toEqual(['old', 'new']);
    expect(idsOf(await get(`${at}?activity=running`))).toEqual(['run']);
    expect(idsOf(await get(`${at}?activity=held`))).toEqual([]);
    expect(await refused(`${at}?state=nowhere`)).toEqual([422, 'invalid_request']);
  });

  // @conforms api.9
  it('returns each issue once over all pages, while issues are added and changed', async () => {
    const stage = await begun({ issues: [] });
    for (let n = 0; n < 23; n += 1) await onBoard(stage, `i${n}`, { status: n % 3 === 0 ? 'done' : 'todo' }, n % 4);
    const { get } = readsOf([boardProject(stage)]);
    const all = idsOf(await get(`${at}?limit=500`));
    expect(new Set(all).size).toBe(23);
    for (const limit of [1, 2, 5, 22, 23, 24]) expect(await walk(get, `limit=${limit}`)).toEqual(all);
    let page = await get(`${at}?limit=5`);
    const seen = idsOf(page);
    for (let n = 0; page.next !== null; n += 1) {
      await onBoard(stage, `late${n}`, {}, 1_000 + n);
      page = await get(`${at}?limit=5&cursor=${page.next}`);
      seen.push(...idsOf(page));
    }
    expect(seen).toEqual(all);
  });

  it('lists issues in the order in which they start, page by page, and counts them', async () => {
    const stage = await begun({ issues: [] });
    for (let n = 0; n < 12; n += 1) {
      const priority = n % 3 === 0 ? null : n % 3;
      await onBoard(stage, `i${n}`, { status: n === 11 ? 'done' : 'todo', priority }, 100 - n);
    }
    const { get, refused } = readsOf([boardProject(stage)]);
    const started = ['i10', 'i7', 'i4', 'i1', 'i8', 'i5', 'i2', 'i9', 'i6', 'i3', 'i0'];
    for (const limit of [1, 4, 100])
      expect(await walk(get, `state=todo&order=start&limit=${limit}`), `${limit}`).toEqual(started);
    expect(await walk(get, 'state=todo&order=start&limit=2&priority=2')).toEqual(['i8', 'i5', 'i2']);
    const first = await get(`${at}?state=todo&order=start&limit=2`);
    expect(first.total).toBe(11);
    expect(await get(`${at}?limit=2`)).toMatchObject({ total: 12 });
    // A search would have to read them all, and a later page has nothing new to say.
    expect(await get(`${at}?q=i1`)).toMatchObject({ total: null });
    expect(await get(`${at}?state=todo&order=start&cursor=${first.next}`)).toMatchObject({ total: null });
    expect(await refused(`${at}?state=todo&order=changed&cursor=${first.next}`)).toEqual([422, 'invalid_request']);
  });

  it('sends the store one query per page of a column, never one for the whole board', async () => {
    const stage = await begun({ issues: [] });
    await onBoard(stage, 'first');
    const asked: Parameters<Scene['store']['boardIssues']['list']>[1][] = [];
    const boardIssues = new Proxy(stage.store.boardIssues, {
      get: (target, name) => {
        // Whatever reads a whole board is not called.
        if (name === 'byStatuses' || name === 'page') throw new Error(`${String(name)} reads too much`);
        if (name !== 'list') return Reflect.get(target, name);
        return (project: string, query: (typeof asked)[number]) => {
          asked.push(query);
          return target.list(project, query);
        };
      },
    });
    const project = boardProject(stage);
    const { get } = readsOf([{ ...project, tables: { ...tablesOf(stage), boardIssues } }]);
    await get(`${at}?state=todo&limit=100`);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ statuses: ['todo'], limit: 100, match: {}, after: null });
    await get(`${at}?state=todo&limit=100&q=nothing`);
    expect(asked.every(({ scan }) => scan <= 500)).toBe(true);
  });
});

/** Every table but those of the store's own transactions. */
function tablesOf({ store }: Scene): ApiProject['tables'] {
  return { ...store };
}

describe('the issue list of an external tracker', () => {
  it('has the running, waiting, held and finished issues that Baton sees, each once', async () => {
    const issues = ['1', '2', '3'].map((id) => issue({ id, title: `Title ${id}`, updatedAt: Number(id) }));
    const stage = await begun({ issues, settings: settings({ intervalMs: 100, agent: { maxConcurrentAgents: 2 } }) });
    await stage.command('issue_hold', { issue: 'T-3', reason: 'not yet' });
    stage.runs[1]?.fail('agent_exited');
    await stage.clock.advance(10);
    const { get } = readsOf([projectOf(stage)]);
    const list = await get(at);
    expect(list.issues.map((each: { id: string; activity: string }) => [each.id, each.activity])).toEqual([
      ['3', 'held'],
      ['2', 'retrying'],
      ['1', 'running'],
    ]);
    expect(idsOf(await get(`${at}?state=TODO&q=title%202`))).toEqual(['2']);
    expect(idsOf(await get(`${at}?activity=held`))).toEqual(['3']);
    // A state that nobody has is no mistake: trackers have their own.
    expect(idsOf(await get(`${at}?state=nowhere`))).toEqual([]);
  });

  it('pages through each issue once, in the order of changes, whatever their times are', async () => {
    const stage = await begun({ issues: [] });
    const anIssue = fc.record({ updatedAt: fc.option(fc.nat(3), { nil: null }) });
    const walked = fc.asyncProperty(
      fc.array(anIssue, { maxLength: 20 }),
      fc.integer({ min: 1, max: 6 }),
      async (some, limit) => {
        const candidates = some.map(({ updatedAt }, n) => issue({ id: `i${n}`, updatedAt }));
        const project = projectOf(stage, 'test', { read: () => ({ ...stage.orchestrator.read(), candidates }) });
        const { get } = readsOf([project]);
        const seen = await walk(get, `limit=${limit}`);
        expect(seen.toSorted()).toEqual(candidates.map(({ id }) => id).toSorted());
        const times = seen.map((id) => candidates.find((each) => each.id === id)?.updatedAt ?? -1);
        expect(times).toEqual(times.toSorted((one, other) => other - one));
      },
    );
    await fc.assert(walked, { numRuns: runs(40) });
  });
});

describe('one issue', () => {
  it('is found by its id, and by its identifier in any case, and by nothing else', async () => {
    const stage = await begun({ issues: [issue({ id: 'x1', identifier: 'Abc-7', title: 'Seen' })] });
    const { get, refused } = readsOf([projectOf(stage)]);
    for (const name of ['x1', 'Abc-7', 'ABC-7', 'abc-7']) expect((await get(`${at}/${name}`)).id).toBe('x1');
    expect(await refused(`${at}/X1`)).toEqual([404, 'issue_not_found']);
    expect(await refused(`${at}/nobody`)).toEqual([404, 'issue_not_found']);
    expect(await refused(`${at}/nobody/diff`)).toEqual([404, 'issue_not_found']);
    expect(await refused(`/api/v1/projects/other/issues/x1`)).toEqual([404, 'project_not_found']);
  });

  it('has its explanation gate by gate, its run, its usage and the useful commands', async () => {
    const stage = await begun({ issues: [issue({ id: '1', title: 'The door' })] });
    const { get } = readsOf([projectOf(stage)]);
    const found = await get(`${at}/T-1`);
    expect(found.explanation.reason).toMatchObject({ code: 'claimed' });
    expect(found.explanation.gates.find(({ gate }: { gate: string }) => gate === 'free_here')).toMatchObject({
      passed: false,
      code: 'claimed',
    });
    expect(found).toMatchObject({ why_unknown: null, activity: 'running', moves: [], held: null, retry: null });
    expect(found.actions).toEqual(['issue_steer', 'issue_stop', 'issue_takeover', 'issue_hold']);
    expect(found.runs).toMatchObject([{ issue_identifier: 'T-1', outcome: null }]);
    expect(found.usage).toMatchObject({ runs: 0, total_tokens: 0 });
  });

  // @conforms api.11
  it('is returned with the reason when it cannot be explained', async () => {
    const stage = await begun();
    const explain = async (): Promise<never> => {
      throw new BatonError('tracker_issue_not_found', 'Linear does not answer.');
    };
    const { get } = readsOf([projectOf(stage, 'test', { explain })]);
    expect(await get(`${at}/T-1`)).toMatchObject({ explanation: null, why_unknown: 'Linear does not answer.' });
  });

  it('does not wait for a silent tracker', async () => {
    const stage = await begun();
    const project = projectOf(stage, 'test', { explain: () => new Promise(() => {}) });
    const { get } = readsOf([project], stage.clock);
    const answer = get(`${at}/T-1`);
    // Once the store has answered.
    for (let turn = 0; turn < 20; turn += 1) await stage.clock.advance(500);
    expect(await answer).toMatchObject({ explanation: null, why_unknown: expect.any(String) });
  });

  it('that waits for its retry has the time and the reason, and words of people with what became of them', async () => {
    const stage = await begun();
    stage.runs[0]?.fail('agent_exited');
    await stage.clock.advance(10);
    const key = { project: stage.project, issueId: '1' };
    const { messages, runs } = stage.store;
    const [run] = await runs.list(stage.project, { issueId: '1', limit: 1 });
    const author = { kind: 'person', name: 'ann' } as const;
    for (const id of ['old', 'had', 'new'])
      await messages.leave(key, { id, at: 1, kind: 'note', author, body: `${id} words` });
    await messages.give(['old'], 'an earlier run');
    await messages.settle(key, 'an earlier run', 2);
    await messages.give(['had'], run?.runId ?? '');
    const { get } = readsOf([projectOf(stage)]);
    const found = await get(`${at}/1`);
    expect(found.retry).toMatchObject({ kind: 'failure', attempt: 1 });
    expect(found.messages).toMatchObject([
      { body: 'old words', status: 'delivered', run_id: 'an earlier run', author },
      { body: 'had words', status: 'waiting', run_id: run?.runId },
      { body: 'new words', status: 'waiting', run_id: null },
    ]);
    expect(found.retry.error).toContain('agent_exited');
    expect(found.actions[0]).toBe('issue_retry');
  });

  it('that is held has the reason, the time and the useful commands', async () => {
    const stage = await begun();
    await stage.command('issue_stop', { issue: 't-1', reason: 'look at it first' });
    stage.runs[0]?.end();
    await stage.clock.advance(10);
    const { get } = readsOf([projectOf(stage)]);
    const found = await get(`${at}/1`);
    expect(found.held).toMatchObject({ code: 'person', text: expect.stringContaining('look at it first') });
    expect(found.actions).toEqual(['issue_release', 'issue_retry', 'issue_takeover']);
    expect(found.history).toMatchObject([
      { what: 'issue_stop', author: { kind: 'person', name: 'me' }, reason: 'look at it first', from: null },
    ]);
  });

  // @conforms api.68
  it('offers steering only when the agent can receive messages', async () => {
    const stage = await begun();
    const project = projectOf(stage);
    const hearing = (canHear: boolean) =>
      readsOf([
        {
          ...project,
          read: () => {
            const model = project.read();
            return { ...model, running: model.running.map((each) => ({ ...each, canHear })) };
          },
        },
      ]).get(`${at}/1`);
    expect((await hearing(true)).actions).toEqual(['issue_steer', 'issue_stop', 'issue_takeover', 'issue_hold']);
    expect((await hearing(false)).actions).toEqual(['issue_stop', 'issue_takeover', 'issue_hold']);
  });

  it('shows a hold that follows the run, and offers to remove it', async () => {
    const stage = await begun();
    const { get } = readsOf([projectOf(stage)]);
    const row = () => presentNow('test', stage.orchestrator.read()).running[0]?.hold_afterwards;
    expect(row()).toBeUndefined();
    await stage.command('issue_hold', { issue: 'T-1', reason: 'not yet' });
    expect(row()).toMatchObject({ code: 'person', text: expect.stringContaining('not yet') });
    expect((await get(`${at}/1`)).actions).toEqual(['issue_steer', 'issue_stop', 'issue_takeover', 'issue_release']);
    await stage.command('issue_release', { issue: 'T-1' });
    expect(row()).toBeUndefined();
    expect((await get(`${at}/1`)).actions).toContain('issue_hold');
  });

  it('has its priority in the row where it waits, if it is a whole one', async () => {
    const priorities = [null, 2, 0.5];
    const issues = priorities.map((priority, n) => issue({ id: `${n}`, priority }));
    const stage = await begun({ issues, settings: settings({ agent: { maxConcurrentAgents: 0 } }) });
    const { waiting } = presentNow('test', stage.orchestrator.read());
    expect(new Map(waiting.map(({ issue_id, priority }) => [issue_id, priority]))).toEqual(
      new Map([
        ['0', undefined],
        ['1', 2],
        ['2', undefined],
      ]),
    );
  });

  it('that is known only from its runs is found by them, with its title from the explanation', async () => {
    const stage = await begun();
    const base = { project: stage.project, generation: 1, role: 'worker', attempt: null, retryKind: null };
    await stage.store.runs.start({
      ...base,
      runId: 'r-old',
      issueId: 'gone',
      identifier: 'OLD-1',
      backend: 'b',
      account: null,
      host: 'h',
      startedAt: 1,
    });
    const explain: Parameters<typeof projectOf>[2] = {
      explain: async () => ({
        issue: { id: 'gone', identifier: 'OLD-1', title: 'An old door', state: 'Done' },
        gates: [],
        reason: null,
        phase: null,
        startsBefore: 0,
        counts: { runs: 0, failures: 0, staleRuns: 0, noSignals: 0 },
        nextCode: 'needs_change',
        next: 'it is left alone',
      }),
    };
    expect(await readsOf([projectOf(stage, 'test', explain)]).get(`${at}/old-1`)).toMatchObject({
      id: 'gone',
      title: 'An old door',
      state: 'Done',
    });
    const silent = await readsOf([projectOf(stage)]).get(`${at}/old-1`);
    expect(silent).toMatchObject({ id: 'gone', title: 'OLD-1', state: 'unknown', explanation: null });
  });
});

describe('an issue of the board', () => {
  it('lists the moves that a person may make, and why others are refused', async () => {
    const stage = await begun({ issues: [] });
    await onBoard(stage, 'a', { status: 'review' as BoardStatus });
    const { get } = readsOf([boardProject(stage)]);
    const found = await get(`${at}/bat-1`);
    const moves = new Map(found.moves.map((move: { to: string }) => [move.to, move]));
    expect([...moves.keys()].toSorted()).toEqual(['backlog', 'blocked', 'cancelled', 'done', 'in_progress', 'todo']);
    expect(moves.get('done')).toEqual({ to: 'done', is_allowed: true, why_not: null });
    expect(moves.get('backlog')).toMatchObject({
      is_allowed: false,
      why_not: telling('backlog', 'todo', 'done', 'cancelled'),
    });
    expect(found.actions).toEqual(['issue_hold', 'issue_takeover', 'issue_move', 'issue_comment', 'issue_edit']);
  });

  it('has its comments, and a history of changes and commands by time without repeats', async () => {
    const stage = await begun({ issues: [] });
    await onBoard(stage, 'a');
    const key = { project: stage.project, issueId: 'a' };
    const { boardHistory, boardComments, commands } = stage.store;
    const change = { author: { kind: 'run', runId: 'r1' } as const, reason: null };
    await boardHistory.add(key, { ...change, at: 10, field: 'status', from: 'todo', to: 'in_progress' });
    await boardHistory.add(key, { ...change, at: 30, field: 'title', from: null, to: '<b>\u202e' });
    await boardComments.add(key, { author: me, body: 'Hello </script>', at: 15 });
    const asked = async (id: string, kind: string, payload: Record<string, unknown>, status: 'done' | 'refused') => {
      await commands.submit({ id, project: stage.project, kind, payload, author: me, at: 20, key: null });
      const result = status === 'done' ? done('held', 'It is on hold.') : refused('not_held', 'It is not on hold.');
      await commands.finish(id, { at: 21, ...result });
    };
    await asked('c1', 'issue_hold', { issue: 'bat-1', reason: 'wait' }, 'done');
    await asked('c2', 'issue_move', { issue: 'BAT-1', to: 'done' }, 'done');
    await asked('c3', 'issue_release', { issue: 'a' }, 'refused');
    await asked('c4', 'issue_hold', { issue: 'BAT-10' }, 'done');
    const { get } = readsOf([boardProject(stage)]);
    const found = await get(`${at}/a`);
    expect(found.history.map((entry: { what: string }) => entry.what)).toEqual(['status', 'issue_hold', 'title']);
    expect(found.history[0]).toMatchObject({ author: { kind: 'run', run_id: 'r1' }, from: 'todo', to: 'in_progress' });
    expect(found.history[1]).toMatchObject({ to: 'It is on hold.', reason: 'wait' });
    // Every text is told as it is.
    expect(found.history[2].to).toBe('<b>\u202e');
    const comment = { at: '1970-01-01T00:00:00.015Z', author: me, body: 'Hello </script>', status: null };
    expect(found.comments).toEqual([comment]);
  });

  it('keeps its history, however many other commands were refused', async () => {
    const stage = await begun({ issues: [] });
    await onBoard(stage, 'a');
    const { commands } = stage.store;
    const payload = { issue: 'BAT-1', reason: 'wait', text: 'x'.repeat(10_000) };
    for (let count = 0; count <= 1_200; count += 1) {
      const id = `c${count}`;
      const draft = { id, project: stage.project, kind: 'issue_hold', payload, author: me, at: 20, key: null };
      await commands.submit(draft);
      await commands.finish(id, {
        at: 21,
        ...(count === 0 ? done('held', 'x') : refused('held_for_another_reason', 'x')),
      });
    }
    const { get } = readsOf([boardProject(stage)]);
    // More than a thousand newer ones do not hide it; by which index they are left out, the plans tell.
    expect((await get(`${at}/a`)).history).toMatchObject([{ what: 'issue_hold', reason: 'wait' }]);
  });

  it('has its questions, and their answers in its history', async () => {
    const stage = await begun({ issues: [] });
    await onBoard(stage, 'a');
    const { questions, commands } = stage.store;
    const question = { kind: 'input', text: 'Which door?', detail: '', fields: [] } as const;
    await questions.ask({
      id: 'q1',
      project: stage.project,
      issueId: 'a',
      identifier: 'BAT-1',
      runId: 'r1',
      askedAt: 1,
      question,
    });
    await questions.answer('q1', { at: 2, author: me, answer: { decision: 'decline', values: {} } });
    const payload = { question: 'q1' };
    await commands.submit({
      id: 'c',
      project: stage.project,
      kind: 'question_answer',
      payload,
      author: me,
      at: 2,
      key: null,
    });
    await commands.finish('c', { at: 3, ...done('answer_delivered', 'told') });
    const found = await readsOf([boardProject(stage)]).get(`${at}/a`);
    expect(found.questions).toMatchObject([
      { id: 'q1', state: 'answered', answer: { decision: 'decline', author: me } },
    ]);
    expect(found.history).toMatchObject([{ what: 'question_answer', to: 'told: “no”' }]);
  });

  // @conforms api.65
  it("has a person's words in its history, harmless and shortened, without secrets", async () => {
    const stage = await begun({ issues: [] });
    await onBoard(stage, 'a');
    const { questions, commands } = stage.store;
    const carryOut = async (kind: string, payload: Record<string, unknown>): Promise<void> => {
      const id = `c ${kind}`;
      await commands.submit({ id, project: stage.project, kind, payload, author: me, at: 2, key: null });
      await commands.finish(id, { at: 3, ...done('message_delivered', 'Delivered.') });
    };
    const field = { label: '', options: [], allowsOther: true };
    const fields = [
      { ...field, name: 'colour', isSecret: false },
      { ...field, name: 'word', isSecret: true },
    ];
    await questions.ask({
      id: 'q1',
      project: stage.project,
      issueId: 'a',
      identifier: 'BAT-1',
      runId: 'r1',
      askedAt: 1,
      question: { kind: 'input', text: 'Which?', detail: '', fields },
    });
    const values = { colour: 'green', word: 'swordfish' };
    await questions.answer('q1', { at: 2, author: me, answer: { decision: 'accept', values } });
    await carryOut('issue_steer', { issue: 'BAT-1', text: 'Use the\n\u001b[31mother\u202e door.' });
    await carryOut('issue_retry', { issue: 'a', note: 'x'.repeat(90_000) });
    await carryOut('issue_handback', { issue: 'a' });
    await carryOut('question_answer', { question: 'q1', values });
    const { history } = await readsOf([boardProject(stage)]).get(`${at}/a`);
    expect(history.map((entry: { what: string; to: string }) => [entry.what, entry.to])).toEqual([
      ['issue_steer', 'Delivered: “Use the ␛[31mother⟦U+202E⟧ door.”'],
      ['issue_retry', expect.stringMatching(/^Delivered: “x{400}…”$/)],
      ['issue_handback', 'Delivered.'],
      ['question_answer', 'Delivered: “green, [secret]”'],
    ]);
  });
});
