import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginAnswer } from '../../../src/cli/top/input/answer-prompt.ts';
import { decodeKeys, type Key } from '../../../src/cli/top/input/decode-keys.ts';
import { editInput, emptyInput, inputCells, inputText } from '../../../src/cli/top/input/input-line.ts';
import { pressKey } from '../../../src/cli/top/input/press-key.ts';
import { footLines } from '../../../src/cli/top/lines/foot-lines.ts';
import { lineText, lineWidth } from '../../../src/cli/top/lines/line.ts';
import { type Effect, rowOf, startState, type TopState, withRows } from '../../../src/cli/top/top-state.ts';
import type { Now } from '../../../src/client/schema/now.ts';
import { anyCharacter } from '../../any-character.ts';
import { busy, colourQuestion, finished, needsYou, now, running, sceneAt, waiting } from './now-scene.ts';

const keysOf = (sent: string): string[] =>
  decodeKeys(sent, true).keys.map((key) =>
    key.name === 'text' || key.name === 'paste' ? `${key.name} ${key.text}` : key.name,
  );

function stateOf(nows: readonly Now[], more: Partial<TopState> = {}): TopState {
  return withRows({ ...startState(), nows, answeredAt: sceneAt, ...more });
}

/** Presses what a person would, and tells what is to be done. */
function press(start: TopState, sent: string): { readonly state: TopState; readonly effects: readonly Effect[] } {
  let state = start;
  const effects: Effect[] = [];
  for (const key of decodeKeys(sent, true).keys) {
    const pressed = pressKey(state, key, 10);
    state = pressed.state;
    if (pressed.effect !== null) effects.push(pressed.effect);
  }
  return { state, effects };
}

const wishes = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.do === 'submit' ? [effect.wish.request] : []));

describe('keys that a terminal sends', () => {
  it.each([
    ['jK?', ['text j', 'text K', 'text ?']],
    ['\u001b[A\u001bOB\u001b[1;5C\u001b[5~\u001b[3;2~', ['up', 'down', 'right', 'page_up', 'delete']],
    ['\u001b', ['escape']],
    ['\u001bx', ['escape', 'text x']],
    ['\r\t\u007f\u0003\u0015', ['enter', 'tab', 'backspace', 'interrupt', 'clear']],
    ['é漢👍', ['text é', 'text 漢', 'text 👍']],
    ['\u001b[200~a\rq\u001b[A\u001b[201~q', ['paste a\rq\u001b[A', 'text q']],
    ['\u001b[200~never ends', []],
    ['\u0000\u0016\u009b', []],
    ['\u001b[99~\u001b[?1;2c', []],
  ])('%j is %j', (sent, names) => {
    expect(keysOf(sent)).toEqual(names);
  });

  it('are the same however the input is split', () => {
    const parts = fc.constantFrom('\u001b[A', '\u001bOB', 'q', '漢', '\u001b[5~', '\u001b[200~x\ry\u001b[201~', '\r');
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 8 }), fc.nat(40), (sequences, at) => {
        const sent = sequences.join('');
        const place = Math.min(at, sent.length);
        const first = decodeKeys(sent.slice(0, place), false);
        const second = decodeKeys(first.rest + sent.slice(place), true);
        const whole = decodeKeys(sent, true).keys;
        // A surrogate pair is never cut: the bytes are decoded before.
        if (!/[\ud800-\udbff]$/.test(sent.slice(0, place))) expect([...first.keys, ...second.keys]).toEqual(whole);
      }),
    );
  });

  it('never hang and never throw, whatever the input', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (sent) => {
        expect(decodeKeys(sent, true).rest).toBe('');
        expect(press(stateOf([busy()]), sent).state.nows).toHaveLength(1);
      }),
    );
  });
});

describe('the input line', () => {
  const type = (...keys: Key[]): string => {
    const { before, after } = keys.reduce(editInput, emptyInput);
    return `${before}|${after}`;
  };
  const text = (words: string): Key => ({ name: 'text', text: words });

  it.each([
    [[text('ab'), { name: 'left' }, text('x')], 'ax|b'],
    [[text('ab'), { name: 'home' }, { name: 'delete' }, { name: 'right' }], 'b|'],
    [[text('one two '), { name: 'word' }], 'one |'],
    [[text('one'), { name: 'clear' }, text('two')], 'two|'],
    [[text('👍🏽'), { name: 'backspace' }], '|'],
    [[text('e\u0301x'), { name: 'left' }, { name: 'left' }], '|e\u0301x'],
    [[{ name: 'paste', text: 'a\r\n\tb' }], 'a b|'],
    [[{ name: 'backspace' }, { name: 'left' }, { name: 'up' }], '|'],
  ] as [Key[], string][])('%j gives %j', (keys, shown) => {
    expect(type(...keys)).toBe(shown);
  });

  it('fits its place with the cursor in sight, and no key loses a character', () => {
    const key = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }).map(text),
      fc.constantFrom<Key[]>({ name: 'left' }, { name: 'right' }, { name: 'home' }, { name: 'end' }),
    );
    fc.assert(
      fc.property(fc.array(key, { maxLength: 20 }), fc.integer({ min: 2, max: 40 }), (keys, columns) => {
        const input = keys.reduce(editInput, emptyInput);
        const shown = inputCells(input, columns);
        expect(lineWidth(shown)).toBeLessThanOrEqual(columns);
        expect(shown.filter(({ tone }) => tone === 'selected')).toHaveLength(1);
        const moved = ['left', 'home', 'end', 'right'].map((name) => editInput(input, { name } as Key));
        expect(new Set(moved.map(inputText))).toEqual(new Set([inputText(input)]));
      }),
    );
    const long = editInput(emptyInput, text(`${'x'.repeat(100)}end`));
    expect(lineText(inputCells(long, 10))).toBe('…xxxxxend ');
  });
});

describe('keys', () => {
  it('move through the rows of all lists, and no further', () => {
    const start = stateOf([busy()]);
    const selected = (sent: string): string => rowOf(press(start, sent).state)?.key.replaceAll('\n', ' ') ?? '';
    expect(selected('')).toBe('words needs_you WORDS-7');
    expect(selected('jjj')).toBe('words running WORDS-7');
    expect(selected('\u001b[B\u001b[Bk')).toBe('words needs_you WORDS-3');
    expect(selected('kkkk')).toBe('words needs_you WORDS-7');
    expect(selected('Gj')).toBe('words finished WORDS-4');
    expect(selected('Gg')).toBe('words needs_you WORDS-7');
    expect(selected('\t\t')).toBe('words waiting WORDS-9');
    expect(selected('\u001b[Z')).toBe('words finished WORDS-2');
    expect(selected('\t\t\t\t')).toBe('words needs_you WORDS-7');
  });

  it('stay with an issue when it moves to another list', () => {
    const { state } = press(stateOf([busy()]), 'jj');
    expect(rowOf(state)?.identifier).toBe('WORDS-1');
    const after = withRows({ ...state, nows: [now({ running: [running('WORDS-8')], waiting: [waiting('WORDS-1')] })] });
    expect(rowOf(after)).toMatchObject({ identifier: 'WORDS-1', list: 'waiting' });
    const without = withRows({ ...state, nows: [now({ running: [running('WORDS-8')] })] });
    expect(rowOf(without)?.identifier).toBe('WORDS-8');
  });

  it.each([
    ['jjr', { kind: 'issue_retry', issue: 'id-WORDS-1' }],
    ['jjRtry the other way\r', { kind: 'issue_retry', issue: 'id-WORDS-1', note: 'try the other way' }],
    ['jjR\r', { kind: 'issue_retry', issue: 'id-WORDS-1' }],
    ['jjtmind the gap\r', { kind: 'issue_steer', issue: 'id-WORDS-1', text: 'mind the gap' }],
    ['jjsy', { kind: 'issue_stop', issue: 'id-WORDS-1' }],
    ['jjoy', { kind: 'issue_takeover', issue: 'id-WORDS-1' }],
    ['jh\r', { kind: 'issue_handback', issue: 'id-WORDS-3' }],
    ['jhI fixed the test\r', { kind: 'issue_handback', issue: 'id-WORDS-3', note: 'I fixed the test' }],
    ['p', { kind: 'pause' }],
    ['dy', { kind: 'drain' }],
    ['jj\rr', { kind: 'issue_retry', issue: 'id-WORDS-1' }],
  ])('%j asks for %j', (sent, request) => {
    expect(wishes(press(stateOf([busy()]), sent).effects)).toEqual([request]);
  });

  it('A asks for a retry with the agent that is typed, where there are several', () => {
    const [row] = busy().needs_you;
    const held = (agents?: string[]) =>
      now(row === undefined ? {} : { needs_you: [row] }, agents === undefined ? {} : { agents });
    const several = held(['default', 'opus']);
    const request = { kind: 'issue_retry', issue: row?.issue_id, agent: 'opus' };
    expect(wishes(press(stateOf([several]), 'Aopus\r').effects)).toEqual([request]);
    expect(wishes(press(stateOf([several]), 'A\r').effects)).toEqual([]);
    expect(wishes(press(stateOf([held()]), 'Aopus\r').effects)).toEqual([]);
  });

  it.each([
    'jjsn',
    'jjs\u001b',
    'jjs\r',
    'd\u001b',
    'dn',
    'jjo ',
    'jjt\r',
    'jjt   \r',
    'jjRnote\u001b',
    'ax',
    '/dy\r',
    '?rst',
  ])('%j asks for nothing', (sent) => {
    expect(wishes(press(stateOf([busy()]), sent).effects)).toEqual([]);
  });

  it('resume a paused or draining project', () => {
    for (const kind of ['pause', 'drain'] as const) {
      const paused = now({}, { paused: { kind, since: null, reason: null } });
      expect(wishes(press(stateOf([paused]), 'p').effects)).toEqual([{ kind: 'resume' }]);
    }
  });

  it('resume after the limit of the day', () => {
    const about = { issue_id: null, issue_identifier: null, kind: 'limit' as const, actions: ['resume'] };
    const stopped = now({ needs_you: [needsYou('day', about)] });
    expect(wishes(press(stateOf([stopped]), 'p').effects)).toEqual([{ kind: 'resume' }]);
    // That of an issue stops no more than the issue.
    const held = now({ needs_you: [needsYou('W-1', { kind: 'limit', actions: ['issue_retry'] })] });
    expect(wishes(press(stateOf([held]), 'p').effects)).toEqual([{ kind: 'pause' }]);
  });

  // @conforms top.8
  it('do what the foot says, whatever is paused and selected', () => {
    const project = fc.record({
      paused: fc.constantFrom(null, 'pause' as const, 'drain' as const),
      hasRow: fc.boolean(),
      isLimited: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(project, { minLength: 1, maxLength: 3 }), fc.nat(4), (projects, at) => {
        const nows = projects.map(({ paused, hasRow, isLimited }, place) => {
          const limit = { issue_id: null, issue_identifier: null, kind: 'limit' as const, actions: ['resume'] };
          const rows = { running: hasRow ? [running(`W-${place}`)] : [] };
          return now(
            { ...rows, project: `p${place}`, needs_you: isLimited ? [needsYou('day', limit)] : [] },
            { paused: paused === null ? null : { kind: paused, since: null, reason: null } },
          );
        });
        const { state } = press(stateOf(nows), 'j'.repeat(at));
        const foot = lineText(footLines(state, 200).at(-1) ?? []);
        const said = ['pause', 'resume'].filter((word) => foot.includes(`p ${word}`));
        expect(wishes(press(state, 'p').effects).map(({ kind }) => kind)).toEqual(said);
      }),
    );
  });

  it('apply to the project of the selected row when there are several', () => {
    const nows = [now({ running: [running('A-1')] }), now({ project: 'numbers', running: [running('B-1')] })];
    const { effects } = press(stateOf(nows), 'jp');
    expect(effects).toMatchObject([{ do: 'submit', wish: { project: 'numbers', request: { kind: 'pause' } } }]);
    const empty = press(stateOf([now(), now({ project: 'numbers' })]), 'p');
    expect(empty.effects).toEqual([]);
    expect(empty.state.message).toMatchObject({ tone: 'warn' });
  });

  it('ask about the issue that was selected when they were pressed', () => {
    const { state } = press(stateOf([busy()]), 'jjs');
    const after = withRows({ ...state, nows: [now({ running: [running('WORDS-66')] })] });
    expect(wishes(press(after, 'y').effects)).toEqual([{ kind: 'issue_stop', issue: 'id-WORDS-1' }]);
  });

  it('do nothing to a row without an issue, and say so', () => {
    const about = { issue_id: null, issue_identifier: null, kind: 'daemon' as const };
    const { state, effects } = press(stateOf([now({ needs_you: [needsYou('x', about)] })]), 'r');
    expect(effects).toEqual([]);
    const unselected = press(stateOf([now()]), 'r').state;
    for (const { message } of [state, unselected]) expect(message).toMatchObject({ tone: 'warn' });
    expect(unselected.message?.text).not.toBe(state.message?.text);
  });

  it('filter while typing, over the whole text of a row', () => {
    const { state } = press(stateOf([busy()]), '/QUOTA');
    expect(state.rows.map(({ identifier }) => identifier)).toEqual(['WORDS-10']);
    expect(press(state, '\r').state).toMatchObject({ filter: 'QUOTA', prompt: null });
    expect(press(state, '\u001b').state).toMatchObject({ filter: '', rows: { length: 10 } });
    expect(press(state, '\r/\u0015\r').state.rows).toHaveLength(10);
    expect(press(state, '\r\u001b').state).toMatchObject({ filter: '', screen: 'list', rows: { length: 10 } });
    // From the details it goes back, and not further.
    expect(press(state, '\r\r\u001b').state).toMatchObject({ filter: 'QUOTA', screen: 'list' });
    expect(press(stateOf([now({ finished: [finished('L-1')] })]), '/todo\r').state.rows).toEqual([]);
  });

  it('dismiss the answer of the daemon', () => {
    const told = stateOf([busy()], { message: { text: 'done', tone: 'good' } });
    expect(press(told, 'j').state.message).toBeNull();
  });

  it('quit', () => {
    expect(press(stateOf([busy()]), 'q').effects).toEqual([{ do: 'quit' }]);
    expect(press(stateOf([busy()]), '/q\u0003').effects).toEqual([{ do: 'interrupt' }]);
  });
});

describe('an answer', () => {
  const yesOrNo = { ...colourQuestion, fields: [] };
  const asked = (question = colourQuestion): TopState => beginAnswer(stateOf([busy()]), 'words', 'WORDS-7', question);

  it.each([
    ['y', 'accept'],
    ['a', 'accept_for_session'],
    ['n', 'decline'],
    ['xyz', 'accept'],
  ])('by %j decides %s', (sent, decision) => {
    expect(wishes(press(asked(yesOrNo), sent).effects)).toEqual([
      { kind: 'question_answer', question: 'q-7', decision },
    ]);
  });

  it('is given field by field, by number or by text, and nothing else fits', () => {
    const first = press(asked(), 'green\r');
    expect(first.effects).toEqual([]);
    expect(first.state).toMatchObject({
      message: { tone: 'warn', text: expect.stringContaining('"green"') },
      prompt: { kind: 'field' },
    });
    const values = { colour: 'blue', why: '2' };
    const answered = press(first.state, '\u00152\r2\r');
    expect(wishes(answered.effects)).toEqual([
      { kind: 'question_answer', question: 'q-7', decision: 'accept', values },
    ]);
    expect(answered.state.prompt).toBeNull();
  });

  it('that is empty declines, when that is meant', () => {
    const declined = { kind: 'question_answer', question: 'q-7', decision: 'decline' };
    expect(wishes(press(asked(), '\ry').effects)).toEqual([declined]);
    expect(wishes(press(asked(), '\rn').effects)).toEqual([]);
  });

  it('is never a secret', () => {
    const fields = colourQuestion.fields.map((field) => ({ ...field, is_secret: field.name === 'why' }));
    const state = asked({ ...colourQuestion, fields });
    const decline = { kind: 'question_answer', question: 'q-7', decision: 'decline' };
    expect(state).toMatchObject({ prompt: { kind: 'confirm', wish: { request: decline } }, message: { tone: 'warn' } });
  });

  it('to fields with names like those of every object is kept', () => {
    const fields = ['__proto__', 'constructor'].map((name) => ({
      name,
      label: '',
      options: [],
      allows_other: false,
      is_secret: false,
    }));
    const [request] = wishes(press(asked({ ...colourQuestion, fields }), 'one\rtwo\r').effects);
    expect(JSON.stringify(request)).toContain('{"__proto__":"one","constructor":"two"}');
  });
});
