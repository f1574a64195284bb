// @module-tag full
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { done } from '../../src/core/command/command-answers.ts';
import { findQuestion } from '../../src/server/api/routes/find-question.ts';
import { ask, field, inStore, mayRun, placeWithStore, twoThings, whichColour } from './asked-question.ts';
import { batonHere } from './baton-here.ts';
import { answer, liveTest, refusal } from './live-daemon.ts';
import { batonCommand, leaveNoPlaces, type Place, startProgram } from './run-baton.ts';

/** What could steer a terminal, apart from the line feeds between lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
const steering = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const evil = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eevil\r\n\u2028';

leaveNoPlaces();

/** The commands that wait in the store, the oldest first. */
async function waiting(place: Place): Promise<readonly Record<string, unknown>[]> {
  const commands = await inStore(place, (store, project) => store.commands.waiting(project, 100));
  return commands.map(({ kind, payload, author }) => ({ kind, payload, author }));
}

describe.concurrent('the questions of agents', liveTest, () => {
  it('are listed while they are open, oldest first, and all of them on request', async () => {
    using place = await placeWithStore();
    expect((await batonHere(place, 'ask', 'list')).stdout).toMatch(/^.+\n$/);
    expect(await answer(place, 'ask', 'list')).toEqual({ questions: [] });
    const now = systemClock.now();
    await ask(place, {
      id: 'bbbbbbbb-2',
      identifier: 'BAT-2',
      question: whichColour,
      askedAt: now - 60_000,
      hasEnded: true,
    });
    await ask(place, { id: 'aaaaaaaa-1', askedAt: now - 3_700_000 });
    await ask(place, { id: 'cccccccc-3', identifier: 'BAT-3', askedAt: now - 10_000_000 });
    await inStore(place, (store) => store.questions.close('cccccccc-3', now));

    const shown = await batonHere(place, 'ask', 'list');
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    const [title, first, second, ...rest] = shown.stdout.split('\n');
    expect(title).toMatch(/^[A-Z]+( +[A-Z]+){5}$/);
    expect(first).toMatch(/^aaaaaaaa +BAT-1 +command +1 h 1 min .* May I run it\?$/);
    expect(second).toMatch(/^bbbbbbbb +BAT-2 +input +1 min .* Which colour\?$/);
    expect(rest).toEqual(['', expect.stringMatching(/ baton ask show ID$/), '']);

    const { questions } = await answer(place, 'ask', 'list', '--all');
    expect(questions.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
      ['bbbbbbbb-2', 'run_ended'],
      ['aaaaaaaa-1', 'unattended'],
      ['cccccccc-3', 'closed'],
    ]);
    expect(questions[0]).toEqual({
      id: 'bbbbbbbb-2',
      issue_id: 'id-BAT-2',
      issue_identifier: 'BAT-2',
      run_id: 'run-bbbbbbbb-2',
      kind: 'input',
      text: 'Which colour?',
      detail: '',
      fields: [
        { name: 'colour', label: 'The colour', options: ['Red', 'Green'], allows_other: false, is_secret: false },
      ],
      asked_at: new Date(now - 60_000).toISOString(),
      state: 'run_ended',
      waits_until: null,
      answer: null,
      closed_at: null,
    });
    expect((await answer(place, 'ask', 'list', '--all', '--limit', '1')).questions).toHaveLength(1);
  });

  it('with similar ids are shown with enough of the id to distinguish them', async () => {
    using place = await placeWithStore();
    await ask(place, { id: 'aaaaaaaa-bbb1', identifier: 'BAT-1' });
    await ask(place, { id: 'aaaaaaaa-bbb2', identifier: 'BAT-2' });
    const { stdout } = await batonHere(place, 'ask', 'list');
    expect(stdout).toMatch(/^aaaaaaaa-bbb1 /m);
    expect(stdout).toMatch(/^aaaaaaaa-bbb2 /m);
  });

  it('are found by id, by the start of the id, and by their issue, unless several match', async () => {
    using place = await placeWithStore();
    await ask(place, { id: 'aaaaaaaa1-1' });
    await ask(place, { id: 'aaaaaaaa2-2', identifier: 'BAT-2' });
    await inStore(place, async (store) => {
      const { id: project } = await store.projects.ensure('live', 0);
      const found = async (name: string): Promise<string> => (await findQuestion(store.questions, project, name)).id;
      for (const name of ['aaaaaaaa1-1', 'AAAAAAAA1-1', 'aaaaaaaa1', 'BAT-1', ' bat-1 ', 'id-BAT-1'])
        expect(await found(name)).toBe('aaaaaaaa1-1');
      for (const name of ['', ' ', '%', 'BAT-9', 'zzz'])
        await expect(found(name)).rejects.toMatchObject({ code: 'question_not_found' });
      await expect(found('aaaaaaaa')).rejects.toMatchObject({
        code: 'question_not_found',
        details: { questions: ['aaaaaaaa1-1', 'aaaaaaaa2-2'] },
      });
      // When only one of them is open, that is the one; when none is, the newest.
      await ask(place, { id: 'cccccccc-3' });
      await expect(found('BAT-1')).rejects.toMatchObject({ nextStep: expect.stringContaining('cccccccc-3') });
      await store.questions.close('aaaaaaaa1-1', 1);
      expect(await found('BAT-1')).toBe('cccccccc-3');
      await store.questions.close('cccccccc-3', 1);
      expect(await found('BAT-1')).toBe('cccccccc-3');
      expect(await found('aaaaaaaa')).toBe('aaaaaaaa2-2');
      // A few letters may be the name of an issue, and answer for no other.
      await expect(found('aaaa')).rejects.toMatchObject({ code: 'question_not_found' });
    });
    expect(await refusal(place, 'ask', 'answer', 'BAT-1', '--yes')).toMatchObject({
      code: 'command_refused',
      details: { question: 'cccccccc-3', code: 'question_closed' },
    });
  });

  it('of another project in the same store are not found', async () => {
    using place = await placeWithStore();
    await inStore(place, async (store) => {
      const { id: project } = await store.projects.ensure('other', 0);
      const draft = { id: 'foreign-1', issueId: 'i', identifier: 'BAT-1', runId: 'r', askedAt: 1, question: mayRun };
      await store.questions.ask({ ...draft, project });
    });
    expect(await answer(place, 'ask', 'list', '--all')).toEqual({ questions: [] });
    expect(await refusal(place, 'ask', 'answer', 'foreign-1', '--yes')).toMatchObject({ code: 'question_not_found' });
  });

  it('are shown with the ways to answer them', async () => {
    using place = await placeWithStore();
    await ask(place, { id: 'aaaaaaaa-1' });
    await ask(place, { id: 'bbbbbbbb-2', identifier: 'BAT-2', question: whichColour, hasEnded: true });
    await ask(place, { id: 'cccccccc-3', identifier: 'BAT-3', question: twoThings });
    const secret = { ...whichColour, fields: [field('pin', { isSecret: true })] };
    await ask(place, { id: 'dddddddd-4', identifier: "BAT 4's", question: secret });
    await ask(place, { id: 'eeeeeeee-5', identifier: 'BAT-5', hasEnded: true });
    const shown = async (name: string): Promise<string> => (await batonHere(place, 'ask', 'show', name)).stdout;

    const first = await shown('BAT-1');
    expect(first).toMatch(/^BAT-1 .*: May I run it\?\n {2}\S+ +aaaaaaaa-1\n {2}\S+ +command\n/);
    expect(first).toContain('\n  | rm -rf build\n');
    // The session in which it could be allowed for good is over.
    expect(first).toContain('\n  baton ask answer aaaaaaaa-1 --yes\n  baton ask answer aaaaaaaa-1 --no\n');

    const second = await shown('BAT-2');
    expect(second).toContain('  colour  The colour\n    1  Red\n    2  Green\n');
    expect(second).toContain('  baton ask answer bbbbbbbb-2 NUMBER\n  baton ask answer bbbbbbbb-2 --no ');
    expect(await shown('BAT-3')).toContain('  baton ask answer cccccccc-3 --field colour=NUMBER --field why=TEXT\n');
    const elsewhere = ['--workflow', './WORKFLOW.md'];
    const { stdout } = await batonHere(place, 'ask', 'show', 'BAT-3', ...elsewhere);
    expect(stdout).toContain(` ${elsewhere.join(' ')} --field colour=NUMBER`);
    const fourth = await shown('dddddddd');
    expect(fourth).toContain(`  baton takeover 'BAT 4'"'"'s'`);
    expect(fourth).not.toContain('--yes');
    const fifth = await shown('BAT-5');
    expect(fifth).toContain(' --yes\n');
    expect(fifth).not.toContain('--always');
    // What a yes means that comes later is said where it can be given.
    const state = (text: string): string => /^ {2}state +(.*)$/m.exec(text)?.[1] ?? '';
    expect(state(fifth)).not.toBe(state(second));
  });

  it('that are answered show the author, the answer, and whether an agent received it', async () => {
    using place = await placeWithStore();
    await ask(place, { id: 'aaaaaaaa-1', question: whichColour });
    const given = {
      at: Date.UTC(2026, 6, 1),
      author: { kind: 'person', name: 'Ada' } as const,
      answer: { decision: 'accept', values: { colour: 'Red' } } as const,
    };
    await inStore(place, (store) => store.questions.answer('aaaaaaaa-1', given));
    const { stdout } = await batonHere(place, 'ask', 'show', 'aaaaaaaa');
    expect(stdout).toMatch(/^ {2}state .* 2026-07-01 00:00:00Z/m);
    expect(stdout).toMatch(/ Ada, 2026-07-01 00:00:00Z: yes\n {2}colour = Red\n/);
    expect(stdout).not.toMatch(/baton ask answer|run-2/);
    await inStore(place, (store) => store.questions.deliver(['aaaaaaaa-1'], 'run-2'));
    expect((await batonHere(place, 'ask', 'show', 'BAT-1')).stdout).toMatch(/^ {2}state .* run-2 /m);
    expect(await answer(place, 'ask', 'show', 'BAT-1')).toMatchObject({
      question: {
        state: 'answered',
        answer: {
          decision: 'accept',
          values: { colour: 'Red' },
          at: '2026-07-01T00:00:00.000Z',
          author: { kind: 'person', name: 'Ada' },
          delivered_to: 'run-2',
        },
      },
    });
    expect(await refusal(place, 'ask', 'answer', 'BAT-1', 'red')).toMatchObject({
      code: 'command_refused',
      details: { code: 'question_answered' },
    });
  });

  // @conforms runs.24
  it('cannot control the terminal of the reader, whatever they contain', async () => {
    using place = await placeWithStore();
    const hostile = {
      ...({ kind: 'input', text: `May I ${evil}?`, detail: `one\n${evil}\n  two ${'x'.repeat(100_000)}` } as const),
      fields: [field(`na${evil}me`, { label: evil, options: [`a${evil}`, 'b'] })],
    };
    await ask(place, { id: 'aaaaaaaa-1', identifier: `BAT-1${evil}`, question: hostile });
    for (const args of [
      ['list'],
      ['list', '--json'],
      ['show', 'aaaaaaaa'],
      ['answer', 'aaaaaaaa', 'nothing of that'],
    ]) {
      const { stdout, stderr } = await batonHere(place, 'ask', ...args);
      expect(stdout + stderr).toContain('evil');
      expect(stdout + stderr).not.toMatch(steering);
    }
    expect(await answer(place, 'ask', 'show', 'aaaaaaaa')).toMatchObject({
      question: { text: hostile.text, fields: [{ name: hostile.fields[0]?.name }] },
    });
  });
});

describe.concurrent('an answer', liveTest, () => {
  it('is checked, and waits in the store as a command when no daemon runs', async () => {
    using place = await placeWithStore();
    await ask(place, { id: 'aaaaaaaa-1' });
    await ask(place, { id: 'bbbbbbbb-2', identifier: 'BAT-2', question: whichColour });
    await ask(place, { id: 'cccccccc-3', identifier: 'BAT-3', question: twoThings });
    const sent = await answer(place, 'ask', 'answer', 'BAT-1', '--always', '--as', 'Ada', '--reason', 'it is a copy');
    expect(sent).toMatchObject({
      command: {
        id: expect.any(String),
        kind: 'question_answer',
        status: 'waiting',
        code: null,
        text: expect.any(String),
        data: {},
      },
      question: 'aaaaaaaa-1',
      answer: { decision: 'accept_for_session', values: {} },
    });
    expect((await batonHere(place, 'ask', 'answer', 'aaaaaaaa', 'No', '--as', 'Ada')).stdout).toBe(
      `${sent.command.text}\n`,
    );
    await answer(place, 'ask', 'answer', 'BAT-2', '2', '--as', 'Ada');
    const fields = ['--field', 'why=a = b', '--field', 'colour=red'];
    await answer(place, 'ask', 'answer', 'BAT-3', ...fields, '--as', 'Ada');
    await answer(place, 'ask', 'answer', 'BAT-3', '--no', '--as', 'Ada');
    const author = { kind: 'person', name: 'Ada' };
    const kind = 'question_answer';
    expect(await waiting(place)).toEqual([
      {
        kind,
        author,
        payload: {
          question: 'aaaaaaaa-1',
          issue: 'id-BAT-1',
          reason: 'it is a copy',
          decision: 'accept_for_session',
          values: {},
        },
      },
      { kind, author, payload: { question: 'aaaaaaaa-1', issue: 'id-BAT-1', decision: 'decline', values: {} } },
      {
        kind,
        author,
        payload: { question: 'bbbbbbbb-2', issue: 'id-BAT-2', decision: 'accept', values: { colour: 'Green' } },
      },
      {
        kind,
        author,
        payload: {
          question: 'cccccccc-3',
          issue: 'id-BAT-3',
          decision: 'accept',
          values: { colour: 'Red', why: 'a = b' },
        },
      },
      { kind, author, payload: { question: 'cccccccc-3', issue: 'id-BAT-3', decision: 'decline', values: {} } },
    ]);
    // A command that waits has answered nothing yet.
    expect((await answer(place, 'ask', 'list')).questions).toHaveLength(3);
  });

  it('that does not fit is refused at once with the allowed answers, and nothing is stored', async () => {
    using place = await placeWithStore();
    await ask(place, { id: 'aaaaaaaa-1' });
    await ask(place, { id: 'bbbbbbbb-2', identifier: 'BAT-2', question: whichColour });
    await ask(place, {
      id: 'dddddddd-4',
      identifier: 'BAT-4',
      question: { ...mayRun, fields: [field('pin', { isSecret: true })] },
    });
    const mistakes = [
      [['BAT-1', 'perhaps'], 'unknown_decision', null],
      [['BAT-2', 'blue'], 'not_an_option', 'colour'],
      [['BAT-2', '--field', 'size=1'], 'unknown_field', 'size'],
      [['BAT-2', '--yes'], 'no_value', 'colour'],
      [['BAT-4', '1234'], 'secret', 'pin'],
    ] as const;
    for (const [args, problem, about] of mistakes) {
      expect(await refusal(place, 'ask', 'answer', ...args)).toMatchObject({
        code: 'command_refused',
        details: { code: 'invalid_answer', data: { problem, field: about } },
        next_step: expect.stringContaining('baton ask show'),
      });
    }
    for (const misuse of [
      ['--yes', '--no'],
      ['--field', '=1'],
      ['--field', 'a=1', '--field', 'a=2'],
    ]) {
      expect(await batonHere(place, 'ask', 'answer', 'BAT-1', ...misuse)).toMatchObject({ code: 2, stdout: '' });
    }
    expect(await waiting(place)).toEqual([]);
  });

  it('is read from stdin with a dash, including line feeds', async () => {
    using place = await placeWithStore();
    await ask(place, { id: 'aaaaaaaa-1', question: { ...whichColour, fields: [field('text')] } });
    const script = `printf 'one\\n--two\\n' | ${batonCommand('ask', 'answer', 'BAT-1', '-', '--json')}`;
    const { code, stdout, stderr } = await startProgram(place, 'sh', ['-c', script]).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout).answer).toEqual({ decision: 'accept', values: { text: 'one\n--two' } });
  });

  it('that is sent twice with the same key counts once, also after it was carried out', async () => {
    using place = await placeWithStore();
    await ask(place, { id: 'aaaaaaaa-1', question: whichColour });
    const first = await answer(place, 'ask', 'answer', 'BAT-1', 'red', '--key', 'k');
    expect(await answer(place, 'ask', 'answer', 'BAT-1', '1', '--key', 'k', '--reason', 'again')).toEqual(first);
    expect(await refusal(place, 'ask', 'answer', 'BAT-1', 'green', '--key', 'k')).toMatchObject({
      details: { code: 'key_in_use', kind: 'question_answer', id: first.command.id },
    });
    expect(await waiting(place)).toHaveLength(1);
    await inStore(place, async (store) => {
      const at = systemClock.now();
      await store.questions.answer('aaaaaaaa-1', {
        at,
        author: { kind: 'person', name: 'Ada' } as const,
        answer: first.answer,
      });
      await store.commands.finish(first.command.id, { at, ...done('continues_with_answer', 'It continues.') });
    });
    expect(await answer(place, 'ask', 'answer', 'BAT-1', 'red', '--key', 'k')).toEqual({
      ...first,
      command: {
        ...first.command,
        ...done('continues_with_answer', 'It continues.'),
        answered_at: expect.any(String),
      },
    });
  });
});
