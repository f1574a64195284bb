import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { AgentQuestion, QuestionAnswer } from '../../src/core/command/question.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { telling } from '../telling.ts';
import { storeThrough } from './faulty-store.ts';
import { begun, pair, type Scene, type StagedRun, scene } from './scene.ts';

const mayI: AgentQuestion = { kind: 'command', text: 'May I run make?', detail: 'make all', fields: [] };
const which: AgentQuestion = {
  kind: 'input',
  text: 'Which colour?',
  detail: '',
  fields: [{ name: 'colour', label: 'Colour', options: ['red', 'blue'], allowsOther: false, isSecret: false }],
};
const yes: QuestionAnswer = { decision: 'accept', values: {} };
const minuteMs = 60_000;

function ask(run: StagedRun | undefined, question = mayI, signal?: AbortSignal) {
  const asked = { answer: 'none yet' as QuestionAnswer | null | 'none yet' };
  void run?.request.ask(question, signal).then((answer) => {
    asked.answer = answer;
  });
  return asked;
}

async function openOne({ store, project }: Scene): Promise<string> {
  const [question] = await store.questions.open(project);
  return question?.id ?? 'no open question';
}

describe('a question of a live agent', () => {
  // @conforms runs.14
  it('is in the store and in the read model, and its answer reaches the waiting agent', async () => {
    const stage = await begun();
    const asked = ask(stage.runs[0]);
    await stage.clock.advance(0);
    const id = await openOne(stage);
    expect(stage.orchestrator.read()).toMatchObject({
      questions: [{ id, issue: { id: '1' }, question: { text: 'May I run make?' } }],
      running: [{ isAsking: true }],
    });
    expect(asked.answer).toBe('none yet');
    const runId = stage.runs[0]?.request.runId ?? '';
    expect(await stage.orchestrator.explain('1')).toMatchObject({ nextCode: 'run_asks', next: telling(runId) });
    const answer = await stage.command('question_answer', { question: id, decision: 'accept' });
    expect(answer).toMatchObject({ status: 'done', code: 'answer_delivered' });
    expect(asked.answer).toEqual(yes);
    expect(await stage.store.questions.read(id)).toMatchObject({
      given: { author: { kind: 'person', name: 'me' }, answer: yes },
      deliveredTo: stage.runs[0]?.request.runId,
    });
    expect(stage.orchestrator.read()).toMatchObject({ questions: [], running: [{ isAsking: false }] });
    expect(await stage.orchestrator.explain('1')).toMatchObject({ nextCode: 'run_continues', next: telling(runId) });
  });

  it('is not silence: a run that waits for a person does not stall', async () => {
    const stage = await begun({
      settings: settings({ intervalMs: 30_000, agent: { stallTimeoutMs: minuteMs, askTimeoutMs: 20 * minuteMs } }),
    });
    ask(stage.runs[0]);
    await stage.clock.advance(10 * minuteMs);
    expect(stage.runs[0]?.stops).toEqual([]);
    await stage.command('question_answer', { question: await openOne(stage), decision: 'decline' });
    await stage.clock.advance(2 * minuteMs);
    expect(stage.runs[0]?.stops).toEqual(['stalled']);
  });

  // @conforms api.66
  it('does not keep a silent agent alive by messages of people', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 30_000, agent: { stallTimeoutMs: minuteMs } }) });
    const before = stage.orchestrator.read().running[0]?.lastEvent;
    for (let at = 0; at < 6; at += 1) {
      const event = { name: 'person_said', at: stage.clock.now(), pid: null, summary: 'a person says: hello' } as const;
      stage.runs[0]?.request.report({ kind: 'event', event });
      expect(stage.orchestrator.read().running[0]?.lastEvent).toEqual(before);
      await stage.clock.advance(minuteMs / 3);
    }
    expect(stage.runs[0]?.stops).toEqual(['stalled']);
    const told = await stage.store.runEvents.list(stage.runs[0]?.request.runId ?? '', { afterSeq: 0, limit: 99 });
    expect(told.filter(({ name }) => name === 'person_said').length).toBeGreaterThan(2);
  });

  // @conforms X2, O31, O32
  it('without an answer in time ends the run, and holds the issue with the question and the command', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 30_000, agent: { askTimeoutMs: 5 * minuteMs } }) });
    const asked = ask(stage.runs[0]);
    await stage.clock.advance(5 * minuteMs);
    expect(asked.answer).toBeNull();
    expect(stage.runs[0]?.stops).toEqual(['unanswered']);
    stage.runs[0]?.end();
    await stage.clock.advance(minuteMs);
    expect(stage.orchestrator.read()).toMatchObject({
      running: [],
      retrying: [],
      held: [{ code: 'agent_input_required', reason: telling(mayI.text, 'baton ask show T-1') }],
    });
    expect(stage.runs).toHaveLength(1);
  });

  // @conforms runs.15
  it('answered after its run has ended continues the same conversation, with the answer once', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 100, agent: { askTimeoutMs: 0 } }) });
    stage.runs[0]?.request.report({ kind: 'session', threadId: 'thread-1' });
    ask(stage.runs[0], which);
    await stage.clock.advance(1);
    stage.runs[0]?.end();
    await stage.clock.advance(minuteMs);
    const id = await openOne(stage);
    expect(await stage.command('question_answer', { question: id, values: { colour: 'green' } })).toMatchObject({
      status: 'refused',
      code: 'invalid_answer',
      data: { problem: 'not_an_option', field: 'colour' },
    });
    expect(await stage.command('question_answer', { question: id, values: { colour: 'blue' } })).toMatchObject({
      status: 'done',
      code: 'continues_with_answer',
    });
    await stage.clock.advance(0);
    expect(stage.orchestrator.read()).toMatchObject({ held: [], running: [{ issue: { id: '1' } }] });
    expect(stage.runs[1]?.request).toMatchObject({
      threadId: 'thread-1',
      retryKind: 'answered',
      attempt: null,
      answers: [{ question: { text: 'Which colour?' }, answer: { decision: 'accept', values: { colour: 'blue' } } }],
    });
    stage.runs[1]?.request.report({ kind: 'prompt_delivered', hasComments: true });
    await stage.clock.advance(0);
    stage.runs[1]?.fail();
    await stage.clock.advance(20_000);
    // Nobody answers twice: a run that begins anew is told what was answered before.
    expect(stage.runs[2]?.request).toMatchObject({
      answers: [],
      answersBefore: [{ question: { text: 'Which colour?' }, answer: { values: { colour: 'blue' } } }],
    });
  });

  // @conforms runs.16
  it('answered after the daemon was killed reaches the next run', async () => {
    const stage = await begun();
    ask(stage.runs[0]);
    await stage.clock.advance(0);
    const id = await openOne(stage);
    stage.kill();
    const draft = { id: 'late', project: stage.project, kind: 'question_answer', key: null, at: stage.clock.now() };
    const author = { kind: 'person', name: 'me' } as const;
    await stage.store.commands.submit({ ...draft, payload: { question: id, decision: 'accept' }, author });
    const next = await scene({
      store: stage.store,
      clock: stage.clock,
      tracker: stage.tracker,
      settings: settings({ intervalMs: 100 }),
    });
    await next.orchestrator.start();
    await next.clock.advance(0);
    expect(await next.store.commands.read('late')).toMatchObject({ result: { status: 'done', code: 'answer_kept' } });
    expect(next.runs[0]?.request).toMatchObject({ retryKind: 'interrupted', answers: [{ answer: yes }] });
  });

  it('that the agent withdraws is closed; one whose run is stopped stays for the next run', async () => {
    const stage = await begun({ issues: [issue({ id: '1' }), issue({ id: '2' })] });
    const aborted = new AbortController();
    const asked = ask(stage.runs[0], mayI, aborted.signal);
    await stage.clock.advance(0);
    const id = await openOne(stage);
    ask(stage.runs[1]);
    await stage.clock.advance(0);
    aborted.abort();
    await stage.clock.advance(0);
    expect(asked.answer).toBeNull();
    expect(await stage.command('question_answer', { question: id, decision: 'accept' })).toMatchObject({
      status: 'refused',
      code: 'question_closed',
    });
    expect(stage.orchestrator.read().questions).toMatchObject([{ issue: { id: '2' } }]);
    expect(await stage.store.questions.open(stage.project)).toMatchObject([{ issueId: '2' }]);
    await stage.command('issue_stop', { issue: '2' });
    stage.runs[1]?.end();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().questions).toEqual([]);
    expect(await stage.store.questions.open(stage.project)).toMatchObject([{ issueId: '2' }]);
    await stage.command('issue_retry', { issue: '2' });
    await stage.clock.advance(200);
    expect(await stage.store.questions.open(stage.project)).toEqual([]);
  });

  it('does not wait when the settings do not ask people', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 100, agent: { approvals: 'deny' } }) });
    const asked = ask(stage.runs[0], which);
    await stage.clock.advance(1);
    expect(asked.answer).toBeNull();
    expect(stage.runs[0]?.stops).toEqual(['unanswered']);
  });

  it('takes one answer: a second one, and one to a closed question, are refused', async () => {
    const stage = await begun();
    ask(stage.runs[0]);
    await stage.clock.advance(0);
    const id = await openOne(stage);
    await stage.command('question_answer', { question: id, decision: 'accept' });
    expect(await stage.command('question_answer', { question: id, decision: 'decline' })).toMatchObject({
      status: 'refused',
      code: 'question_answered',
    });
    expect(await stage.command('question_answer', { question: 'nonsense', decision: 'accept' })).toMatchObject({
      status: 'refused',
      code: 'question_not_found',
    });
    expect(await stage.command('question_answer', {})).toMatchObject({ status: 'refused', code: 'question_not_found' });
    expect(await stage.store.questions.read(id)).toMatchObject({ given: { answer: { decision: 'accept' } } });
  });

  it('is answered by the daemon that has the issue', async () => {
    const [one, other] = await pair({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 100 }) });
    await one.orchestrator.start();
    await one.clock.advance(0);
    await other.orchestrator.start();
    const asked = ask(one.runs[0]);
    await one.clock.advance(0);
    const id = await openOne(one);
    expect(await other.command('question_answer', { question: id, decision: 'accept' })).toBeNull();
    await one.clock.advance(10_000);
    expect(asked.answer).toEqual(yes);
  });

  it('of two keeps the issue waiting for both answers', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 100, agent: { askTimeoutMs: 10 } }) });
    ask(stage.runs[0]);
    ask(stage.runs[0], which);
    await stage.clock.advance(10);
    stage.runs[0]?.end();
    await stage.clock.advance(minuteMs);
    const [first, second] = await stage.store.questions.open(stage.project);
    expect(
      await stage.command('question_answer', { question: first?.id, decision: 'accept', values: {} }),
    ).toMatchObject({ status: 'done', code: 'answer_kept_others_open' });
    expect(stage.orchestrator.read().held).toHaveLength(1);
    await stage.command('question_answer', { question: second?.id, values: { colour: 'red' } });
    await stage.clock.advance(0);
    expect(stage.runs[1]?.request.answers).toHaveLength(2);
  });

  it('that cannot be stored ends the run', async () => {
    const stage = await begun();
    const { transaction } = stage.store;
    let fails = 1;
    Object.assign(stage.store, {
      transaction: (work: Parameters<typeof transaction>[0]) => {
        fails -= 1;
        return fails >= 0 ? Promise.reject(new Error('the disk is full')) : transaction(work);
      },
    });
    const asked = ask(stage.runs[0]);
    await stage.clock.advance(0);
    expect(asked.answer).toBeNull();
    expect(stage.runs[0]?.stops).toEqual(['unanswered']);
  });

  // @conforms tools.24
  it('gives the run its whole time again when it is answered', async () => {
    const stage = await begun({
      settings: settings({ intervalMs: 30_000, agent: { stallTimeoutMs: minuteMs, askTimeoutMs: 20 * minuteMs } }),
    });
    ask(stage.runs[0]);
    await stage.clock.advance(10 * minuteMs);
    await stage.command('question_answer', { question: await openOne(stage), decision: 'accept' });
    await stage.clock.advance(minuteMs / 2);
    expect(stage.runs[0]?.stops).toEqual([]);
    await stage.clock.advance(minuteMs);
    expect(stage.runs[0]?.stops).toEqual(['stalled']);
  });

  it('is refused beyond a limit for an agent that asks without end', async () => {
    const stage = await begun();
    const all = Array.from({ length: 50 }, () => ask(stage.runs[0]));
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().questions.length).toBeLessThanOrEqual(20);
    expect(all.filter(({ answer }) => answer === null).length).toBeGreaterThanOrEqual(30);
    expect(stage.runs[0]?.stops).toEqual([]);
  });

  // @conforms tools.23
  it('and other decisions of people cannot be made by a run', async () => {
    const stage = await begun();
    ask(stage.runs[0]);
    await stage.clock.advance(0);
    const byRun = async (kind: string, payload: Record<string, unknown>) => {
      const draft = { id: `${kind}-by-run`, project: stage.project, kind, payload, key: null, at: stage.clock.now() };
      await stage.store.commands.submit({ ...draft, author: { kind: 'run', runId: 'r' } });
      stage.orchestrator.wake();
      await stage.clock.advance(0);
      return (await stage.store.commands.read(draft.id))?.result?.code;
    };
    expect(await byRun('question_answer', { question: await openOne(stage), decision: 'accept' })).toBe(
      'not_for_agents',
    );
    for (const kind of ['issue_retry', 'issue_handback', 'issue_takeover', 'issue_steer', 'issue_release'])
      expect(await byRun(kind, { issue: '1', text: 'x' })).toBe('not_for_agents');
    expect(await byRun('resume', {})).toBe('not_for_agents');
    // A run holds its own issue only, and this one has none.
    expect(await byRun('issue_hold', { issue: '1' })).toBe('not_for_agents');
  });
});

// @conforms runs.63
it('a question that cannot be stored holds its issue with a command that continues it', async () => {
  const before = (call: string): void => {
    if (call === 'in questions.ask') throw new BatonError('store_unavailable', 'no store');
  };
  const stage = await begun({ through: (store) => storeThrough(store, { before }) });
  ask(stage.runs[0]);
  await stage.clock.advance(0);
  expect(stage.runs[0]?.stops).toEqual(['unanswered']);
  stage.runs[0]?.end();
  await stage.clock.advance(0);
  expect(stage.orchestrator.read().held).toMatchObject([
    {
      code: 'agent_input_required',
      reason: telling(mayI.text, 'baton issue retry T-1'),
    },
  ]);
  expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ status: 'done' });
  await stage.clock.advance(1_000);
  expect(stage.runs).toHaveLength(2);
});
