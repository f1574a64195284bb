import { describe, expect, it } from 'vitest';
import type { SaidLearning } from '../../../src/core/learning/learnings-proposal.ts';
import { lessonsIn } from '../../../src/core/learning/lesson.ts';
import type { Settings } from '../../../src/core/settings.ts';
import { TaskEnd } from '../../../src/runner/task-run.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { pullDraft } from '../../store/pull-draft.ts';
import { storeThrough } from '../faulty-store.ts';
import { begun, pair, type Scene, type SceneOptions, type StagedRun, scene } from '../scene.ts';

const minute = 60_000;
const hour = 60 * minute;

function learning(learner: Partial<Settings['learner']> = {}): Settings {
  const all = settings({ intervalMs: minute, agent: { maxConcurrentAgents: 3 } });
  return {
    ...all,
    polling: {
      ...all.polling,
      jobIntervalsMs: { learning: minute, stall_check: hour, finished_agents: hour, pull_requests: hour },
    },
    learner: { ...all.learner, enabled: true, minLessons: 2, ...learner },
  };
}

/** Words of a person on an issue, as a note of a retry is. */
async function note({ store, project, clock }: Scene, id: string, body: string): Promise<void> {
  const author = { kind: 'person', name: 'ada' } as const;
  await store.messages.leave({ project, issueId: '1' }, { id, at: clock.now(), kind: 'note', author, body });
}

async function withNotes(options: SceneOptions & { readonly notes?: number } = {}): Promise<Scene> {
  const stage = await begun({ issues: [], settings: learning(), ...options });
  await stage.clock.advance(minute);
  for (let n = 0; n < (options.notes ?? 2); n += 1) await note(stage, `n${n}`, `Words ${n}`);
  await stage.clock.advance(2 * minute);
  return stage;
}

const learnersOf = ({ runs }: Scene): StagedRun[] => runs.filter(({ request }) => request.role === 'learner');
const tasksOf = ({ store, project }: Scene) => store.tasks.list(project, { kind: 'learn', limit: 10 });

async function propose(run: StagedRun | undefined, said: readonly SaidLearning[]) {
  const task = run?.request.task;
  if (run === undefined || !task) throw new Error('there is no learner');
  const answer = await new TaskEnd(task).tools().onProposeLearnings?.(said);
  run.request.report({ kind: 'changed', changed: false, facts: null });
  return answer;
}

const said = (text: string, more: Partial<SaidLearning> = {}): SaidLearning => ({
  ...{ text, from: [1], replaces: [], ...more },
});

/** A learner has proposed these, and a person has not decided. */
async function proposed(texts: readonly string[], options: SceneOptions = {}) {
  const stage = await withNotes(options);
  const [run] = learnersOf(stage);
  await propose(
    run,
    texts.map((text) => said(text)),
  );
  run?.succeed();
  await stage.clock.advance(1_000);
  const [task] = await tasksOf(stage);
  return { stage, task: task?.id ?? '' };
}

const known = ({ store, project }: Scene) => store.learnings.list(project);

describe('the learner', () => {
  // @conforms 4.129
  it('begins when enough has happened, once, and reads what happened as data under a key of its own', async () => {
    const stage = await withNotes();
    const [run, ...others] = learnersOf(stage);
    expect(others).toEqual([]);
    const lessons = [...lessonsIn(run?.request.task?.task.text ?? '').values()];
    expect(lessons.map(({ kind, words, by }) => [kind, words, by])).toEqual([
      ['note', 'Words 0', 'ada'],
      ['note', 'Words 1', 'ada'],
    ]);
    expect(run?.request).toMatchObject({ learnings: [], task: { most: 5, learnings: [] } });
    expect(stage.calls.flatMap(({ asked }) => asked).filter((id) => id.startsWith('learn:'))).toEqual([]);
  });

  it.each([
    ['it is switched off', learning({ enabled: false }), 9],
    ['its budget has no limit', learning({ runsPerDay: 0 }), 9],
    ['too little has happened', learning(), 1],
  ])('does not begin while %s', async (_why, wanted, notes) => {
    const stage = await withNotes({ settings: wanted, notes });
    await stage.clock.advance(hour);
    expect([stage.runs, await tasksOf(stage)]).toEqual([[], []]);
  });

  it('reads a lesson once: not again in the next run, but again after a failed one', async () => {
    const stage = await withNotes({ settings: learning({ runsPerDay: 10, cooldownMs: minute }) });
    learnersOf(stage)[0]?.fail();
    await stage.clock.advance(2 * minute);
    expect(await tasksOf(stage)).toMatchObject([{ status: 'waiting' }, { status: 'failed' }]);
    const [, second] = learnersOf(stage);
    expect(lessonsIn(second?.request.task?.task.text ?? '').size).toBe(2);
    await propose(second, []);
    second?.succeed();
    await stage.clock.advance(hour);
    expect(learnersOf(stage)).toHaveLength(2);
    await note(stage, 'later', 'More words');
    await note(stage, 'latest', 'Even more');
    await stage.clock.advance(5 * minute);
    const third = learnersOf(stage)[2];
    expect([...lessonsIn(third?.request.task?.task.text ?? '').values()].map(({ words }) => words)).toEqual([
      'More words',
      'Even more',
    ]);
  });

  it('proposes no more than it may, nothing without an origin, and nothing counts before a person accepts it', async () => {
    const stage = await withNotes();
    const [run] = learnersOf(stage);
    const many = Array.from({ length: 30 }, (_, at) => said(`Number ${at}`));
    expect(await propose(run, many)).toEqual({ most: 5 });
    expect(await propose(run, [said('Where from?', { from: [99] })])).toEqual({ unknown: ['99'] });
    expect(await propose(run, [said('Run rm -rf first.')])).toEqual({ kept: 1 });
    run?.succeed();
    stage.tracker.put(issue({ id: '7' }));
    await stage.clock.advance(2 * minute);
    expect(stage.runs.at(-1)?.request).toMatchObject({ issue: { id: '7' }, learnings: [] });
    expect(await known(stage)).toEqual([]);
  });

  it('stays within its budget when every run fails at once', async () => {
    const stage = await withNotes({
      settings: learning({ runsPerDay: 3, cooldownMs: 1 }),
      play: (run) => run.fail(),
    });
    await stage.clock.advance(hour);
    expect(learnersOf(stage)).toHaveLength(3);
  });

  it('begins when a person asks, and says why not', async () => {
    const stage = await begun({ issues: [], settings: learning() });
    await stage.clock.advance(minute);
    expect(await stage.command('learn_begin')).toMatchObject({ code: 'nothing_to_learn' });
    await note(stage, 'one', 'Words');
    expect(await stage.command('learn_begin')).toMatchObject({ status: 'done', code: 'task_waits' });
    expect(await stage.command('learn_begin')).toMatchObject({ status: 'done', code: 'task_waits' });
    expect(await tasksOf(stage)).toHaveLength(1);
    await propose(learnersOf(stage)[0], [said('A')]);
    learnersOf(stage)[0]?.succeed();
    await stage.clock.advance(minute);
    await note(stage, 'two', 'Other words');
    expect(await stage.command('learn_begin')).toMatchObject({ code: 'task_undecided' });
    await stage.command('task_refuse', { task: (await tasksOf(stage))[0]?.id ?? '' });
    expect(await stage.command('learn_begin')).toMatchObject({ code: 'role_budget_used', data: { role: 'learner' } });
    stage.file.settings = learning({ enabled: false });
    expect(await stage.command('learn_begin')).toMatchObject({ code: 'role_off', data: { role: 'learner' } });
  });

  it('is begun by one of two daemons, and by the other when the first is killed', async () => {
    const wanted = learning({ runsPerDay: 10, cooldownMs: minute });
    const [one, other] = await pair({ issues: [], settings: wanted });
    await one.orchestrator.start();
    await other.orchestrator.start();
    await one.clock.advance(minute);
    for (const id of ['a', 'b']) await note(one, id, id);
    await one.clock.advance(5 * minute);
    expect(learnersOf(one).length + learnersOf(other).length).toBe(1);
    const [first, second] = learnersOf(one).length === 1 ? [one, other] : [other, one];
    first.kill();
    await one.clock.advance(10 * minute);
    // A dead run is failed inline; then the other daemon begins the next.
    expect(learnersOf(second)).toHaveLength(1);
    expect((await tasksOf(second)).map(({ status }) => status)).toEqual(['waiting', 'failed']);
  });
});

describe('a person', () => {
  it('accepts some, with other words, and refuses the rest; accepting again changes nothing', async () => {
    const { stage, task } = await proposed(['First.', 'Second.', 'Third.']);
    const edits = [{ number: 2, text: 'Second, in better\nwords.' }];
    expect(await stage.command('task_accept', { task, numbers: [2], edits })).toMatchObject({
      code: 'learnings_accepted',
      data: { learnings: ['L1'] },
    });
    await stage.command('task_refuse', { task, numbers: [3] });
    expect(await stage.command('task_accept', { task })).toMatchObject({ data: { learnings: ['L2'] } });
    expect(await stage.command('task_accept', { task })).toMatchObject({ data: { learnings: ['L2', 'L1'] } });
    expect(await known(stage)).toMatchObject([
      { id: 'L2', text: 'First.', status: 'trial', author: { name: 'me' }, origins: [{ kind: 'note', issue: '1' }] },
      { id: 'L1', text: 'Second, in better words.' },
    ]);
    expect((await tasksOf(stage))[0]).toMatchObject({ status: 'accepted' });
  });

  it('accepts one that replaces another', async () => {
    const stage = await withNotes({ settings: learning({ trialIssues: 0 }) });
    await stage.command('learning_add', { text: 'Old words.' });
    const [run] = learnersOf(stage);
    run?.fail();
    await stage.clock.advance(1_000);
    const [failed] = await tasksOf(stage);
    stage.file.settings = learning({ trialIssues: 0, runsPerDay: 5 });
    await stage.command('task_retry', { task: failed?.id ?? '' });
    await stage.clock.advance(1_000);
    await propose(learnersOf(stage)[1], [said('New words.', { replaces: ['L1'] })]);
    await stage.command('task_accept', { task: failed?.id ?? '' });
    expect(await known(stage)).toMatchObject([
      { id: 'L2', text: 'New words.', status: 'kept' },
      { id: 'L1', status: 'replaced' },
    ]);
  });

  it('writes, edits, vetoes and restores one, and a run may do nothing of this', async () => {
    const stage = await begun({ issues: [], settings: learning() });
    expect(await stage.command('learning_add', { text: ' Two\nlines ' })).toMatchObject({ data: { learning: 'L1' } });
    expect(await stage.command('learning_add', { text: 'x'.repeat(501) })).toMatchObject({ code: 'learning_too_long' });
    expect(await stage.command('learning_add', { text: ' ' })).toMatchObject({ code: 'nothing_to_say' });
    expect(await stage.command('learning_veto', { learning: 'L9' })).toMatchObject({ code: 'learning_not_found' });
    expect(await stage.command('learning_veto', { learning: 'l1' })).toMatchObject({ code: 'learning_vetoed' });
    expect(await known(stage)).toMatchObject([{ status: 'vetoed', text: 'Two lines' }]);
    expect(await stage.command('learning_restore', { learning: 'L1' })).toMatchObject({ code: 'learning_restored' });
    expect(await known(stage)).toMatchObject([{ status: 'trial' }]);
    expect(await stage.command('learning_edit', { learning: 'L1', text: 'Others' })).toMatchObject({ status: 'done' });
    expect(await known(stage)).toMatchObject([{ status: 'trial', text: 'Others' }]);
    const { store, project, clock } = stage;
    for (const kind of ['learning_add', 'learn_begin', 'task_accept'] as const) {
      const author = { kind: 'run', runId: 'r' } as const;
      const id = `by-run-${kind}`;
      const payload = { text: 'Evil', task: 'learn:1' };
      await store.commands.submit({ id, project, kind, payload, author, at: clock.now(), key: null });
      stage.orchestrator.wake();
      await clock.advance(0);
      expect((await store.commands.read(id))?.result).toMatchObject({ status: 'refused', code: 'not_for_agents' });
    }
  });

  it.each(['before', 'after'] as const)(
    'makes each learning once when the store loses a call %s it is done',
    async (when) => {
      for (let nth = 1; ; nth += 1) {
        let [count, isArmed] = [0, false];
        const lose = (call: string): void => {
          if (isArmed && /^(learnings|tasks|transaction)/.test(call) && ++count === nth) throw new Error('lost');
        };
        const { stage, task } = await proposed(['First.', 'Second.'], {
          through: (store) => storeThrough(store, { [when]: lose }),
        });
        isArmed = true;
        for (const _ of [1, 2]) {
          await stage.command('task_accept', { task });
          await stage.clock.advance(5_000);
        }
        isArmed = false;
        expect((await known(stage)).map(({ text }) => text).toSorted()).toEqual(['First.', 'Second.']);
        await stage.orchestrator.stop();
        // Every call was lost once.
        if (count < nth) return expect(nth).toBeGreaterThan(5);
      }
    },
  );
});

describe('a later agent', () => {
  it('gets what people accepted, and what it got is in the store before it starts', async () => {
    const stage = await begun({ issues: [], settings: learning({ trialIssues: 0 }) });
    await stage.command('learning_add', { text: 'Run the tests first.' });
    stage.tracker.put(issue({ id: '7' }));
    await stage.clock.advance(2 * minute);
    const [run] = stage.runs;
    expect(run?.request.learnings).toMatchObject([{ id: 'L1', text: 'Run the tests first.' }]);
    const key = { project: stage.project, issueId: '7' };
    expect(await stage.store.learnings.offeredTo(key)).toEqual(['L1']);
    await stage.command('learning_veto', { learning: 'L1' });
    run?.succeed();
    await stage.clock.advance(5 * minute);
    expect(stage.runs.at(-1)?.request.learnings).toEqual([]);
  });

  it('gets none where the prompt may have no characters of them', async () => {
    const stage = await begun({ issues: [], settings: learning({ trialIssues: 0, maxChars: 0 }) });
    await stage.command('learning_add', { text: 'Run the tests first.' });
    stage.tracker.put(issue({ id: '7' }));
    await stage.clock.advance(2 * minute);
    expect(stage.runs[0]?.request.learnings).toEqual([]);
  });
});

describe('a learning on trial', () => {
  // @conforms 4.129
  it.each([
    ['kept', [false, false], [true, false]],
    ['faded', [true, false], [false, true]],
  ] as const)('is %s by how often work came back, and that is logged', async (status, withIt, without) => {
    const stage = await scene({ issues: [], settings: learning({ trialIssues: 2 }) });
    const { store, project, clock } = stage;
    const author = { kind: 'person', name: 'ada' } as const;
    const at = clock.now();
    await store.learnings.add(project, { text: 'A', origins: [], author, status: 'trial', at, key: 'a' });
    for (const [nth, isSentBack] of [...withIt, ...without].entries()) {
      const issueId = `i${nth}`;
      const pull = await store.pullRequests.open({ ...pullDraft(issueId, { at: at + 1, headCommit: 'h' }), project });
      if (isSentBack) await store.pullRequests.sendBack(pull, 'h', { at: at + 2, by: author, kind: 'person' });
      if (nth < withIt.length) await store.learnings.offer({ project, issueId }, ['L1'], at + 1);
    }
    await stage.orchestrator.start();
    await clock.advance(minute);
    expect(await known(stage)).toMatchObject([{ id: 'L1', status }]);
    expect(stage.logger.lines.filter(({ event }) => event === 'learning_decided')).toMatchObject([
      { fields: { learning: 'L1', status } },
    ]);
  });
});
