import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellText, cut, padded, reasonText, widthOf } from '../../../src/cli/cell-text.ts';
import { commandsHere } from '../../../src/cli/place-flags.ts';
import { drawFrame, type Frame, type Size } from '../../../src/cli/top/frame.ts';
import { cell, type Line, lineText, lineWidth } from '../../../src/cli/top/lines/line.ts';
import { colours, noColours, paintLine } from '../../../src/cli/top/lines/paint-line.ts';
import { countdown, shortDuration } from '../../../src/cli/top/lines/short-text.ts';
import { throughput, withSample } from '../../../src/cli/top/lines/throughput.ts';
import { type Details, startState, type TopState, withRows } from '../../../src/cli/top/top-state.ts';
import type { Now } from '../../../src/client/schema/now.ts';
import { anyCharacter } from '../../any-character.ts';
import { runs } from '../../property-runs.ts';
import { ago, busy, colourQuestion, finished, needsYou, now, running, sceneAt, waiting } from './now-scene.ts';

const usual: Size = { columns: 80, rows: 24 };

function stateOf(nows: readonly Now[], more: Partial<TopState> = {}): TopState {
  return withRows({ ...startState(), nows, answeredAt: sceneAt, ...more });
}

/** Where the pieces of a line begin that are not blank. */
function columnsOf(line: Line): number[] {
  const text = lineText(line);
  let at = 0;
  return line.flatMap((piece) => {
    const begins = at + piece.text.search(/\S/);
    at += piece.text.length;
    return piece.text.trim() === '' || text[begins] === undefined ? [] : [begins];
  });
}

/** The title of the list whose first row begins like this. */
function titleOver(lines: readonly string[], row: string): string {
  return lines[lines.findIndex((line) => line.startsWith(row)) - 1] ?? '';
}

/** The titles that say that a list is empty. */
function emptyLists(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => / 0 {2}\S/.test(line));
}

function textOf({ lines }: Frame): string[] {
  return lines.map(lineText);
}

function seen(nows: readonly Now[], more: Partial<TopState> = {}, size: Size = usual): string[] {
  return textOf(drawFrame(stateOf(nows, more), size, sceneAt));
}

/** Pieces of text that somebody would try. */
const nasty = [
  ...[
    '\u001b[2J',
    '\u001b]0;owned\u0007',
    '\u009b31m',
    '\u202e',
    '\u2066',
    '\u200b',
    '\u200d',
    '\ufeff',
    '\u0000',
    '\r\n',
    '\t',
  ],
  ...[
    '漢字',
    'ｆｕｌｌ',
    '한글',
    'e\u0301',
    '\u0301\u0302\u0303\u0304\u0305',
    '👩‍👧‍👦',
    '🇩🇪',
    '❤\ufe0f',
    '👍🏽',
    '\ud800',
    '\udc00x',
  ],
  ...['שלום', 'نص', '\u{e0041}', '\u{1f3fb}', '\u2028', '\\n', 'x', ' ', 'a long word', '…', '\u001b', '\u001b['],
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...nasty), fc.string({ unit: anyCharacter, maxLength: 8 })), { maxLength: 30 })
  .map((parts) => parts.join(''));
const harmless = /^[^\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]*$/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: only these may reach a terminal.
const ours = /^(?:\u001b\[(?:[\d;]*m|\d+G)|[^\p{Cc}\p{Cf}\p{Cs}\u2028\u2029])*$/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding it is the purpose.
const colour = /\u001b\[(?:\d;)?[34]\dm/;

describe('a cell', () => {
  it.each([
    ['plain', 5],
    ['漢字', 4],
    ['한글', 4],
    ['ｆ', 2],
    ['👍', 2],
    ['e\u0301', 1],
    ['漢\u0301', 2],
    ['🇩🇪', 2],
    ['…', 1],
    ['', 0],
  ])('counts %j as %d columns', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  it.each([
    ['a\n  b\t c', 'a b c'],
    ['\u001b[31mred\u001b[0m', '␛[31mred␛[0m'],
    ['\u0301x', 'x'],
    ['a \u0301\u0302b', 'a b'],
    ['e\u0301\u0302\u0303\u0304\u0305', 'e\u0301\u0302\u0303'],
    ['❤\ufe0f', '❤'],
    ['\ud800', '⟦U+D800⟧'],
    ['\u202eabc\u202c', '⟦U+202E⟧abc⟦U+202C⟧'],
  ])('of %j is %j', (text, shown) => {
    expect(cellText(text)).toBe(shown);
  });

  // @conforms S5
  it('treats a written-out line break as one, in reasons only (S5)', () => {
    expect(reasonText('worker crashed\\nrestarting cleanly')).toBe('worker crashed restarting cleanly');
    expect(cellText('C:\\new')).toBe('C:\\new');
  });

  it('has exactly the requested width, whatever it contains', () => {
    fc.assert(
      fc.property(hostile, fc.nat(60), (text, width) => {
        const shown = cellText(text);
        expect(shown).toMatch(harmless);
        expect(cellText(shown)).toBe(shown);
        const blanks = width - widthOf(cut(shown, width));
        expect(padded(shown, width)).toBe(cut(shown, width) + ' '.repeat(blanks));
        expect(padded(shown, width, 'right')).toBe(' '.repeat(blanks) + cut(shown, width));
        expect(widthOf(cut(shown, width))).toBeLessThanOrEqual(width);
        if (widthOf(shown) <= width) expect(cut(shown, width)).toBe(shown);
      }),
    );
  });
});

describe('a painted line', () => {
  it('places text after a character of uncertain width at its column', () => {
    const line = [cell('漢字'), cell('  '), cell('next', 'good'), cell('   ')];
    expect(paintLine(line, colours)).toBe('漢字\u001b[5G  \u001b[32mnext\u001b[m');
    expect(paintLine([cell('plain '), cell('next')], colours)).toBe('plain next');
  });

  it('passes no control character, even from an uncleaned cell', () => {
    expect(paintLine([cell('a\u001b[2J\u202e\n')], noColours)).toBe('a\ufffd[2J\ufffd');
  });

  it('marks the selection by more than colour', () => {
    expect(paintLine([cell('▸x  ', 'selected')], noColours)).toBe('\u001b[7m▸x  \u001b[m');
  });
});

describe('times and rates', () => {
  it.each([
    [-5, '0s'],
    [999, '0s'],
    [2_000, '2s'],
    [1_225_000, '20m 25s'],
    [3_600_000, '1h 0m'],
    [86_399_000, '23h 59m'],
    [190_800_000, '2d 5h'],
  ])('%d ms is %s', (ms, text) => {
    expect(shortDuration(ms)).toBe(text);
  });

  it('count down to zero only when the time has come', () => {
    expect([2_000, 1_999, 1, 0, -3_000].map(countdown)).toEqual(['2s', '2s', '1s', '0s', '0s']);
  });

  // @conforms S8
  it.each([
    [[{ at: 9_000, tokens: 20 }], 40, 20],
    [[{ at: 4_900, tokens: 20 }], 40, 0],
    [
      [
        { at: 9_500, tokens: 10 },
        { at: 9_000, tokens: 40 },
        { at: 8_000, tokens: 80 },
      ],
      95,
      7.5,
    ],
    [[], 40, 0],
    [[{ at: 9_000, tokens: 50 }], 40, 0],
    [[{ at: 10_000, tokens: 10 }], 40, 0],
  ])('tokens a second are those of the last five (S8): %j', (samples, tokens, rate) => {
    expect(throughput(samples, { at: 10_000, tokens })).toBe(rate);
  });

  it('keep the samples of five seconds, and none of the day before', () => {
    let samples: readonly { at: number; tokens: number }[] = [];
    for (let at = 0; at <= 20_000; at += 500) samples = withSample(samples, { at, tokens: at });
    expect(samples).toHaveLength(11);
    expect(withSample(samples, { at: 20_500, tokens: 3 })).toEqual([{ at: 20_500, tokens: 3 }]);
  });
});

describe('a frame', () => {
  // @conforms S4
  it('lists what needs a person first, then running, waiting and finished issues', () => {
    const lines = seen([busy()]);
    const lists = [
      ['▸? WORDS-7 ', 2],
      [' ● WORDS-1 ', 3],
      [' ↻ WORDS-9 ', 3],
      [' ✓ WORDS-2 ', 2],
    ] as const;
    const places = lists.map(([row]) => lines.findIndex((line) => line.startsWith(row)));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    for (const [row, count] of lists) expect(titleOver(lines, row)).toMatch(new RegExp(`^ [A-Z]\\D+ ${count} `));
    expect(lines).toContainEqual(
      expect.stringMatching(/^ ● WORDS-1 {3}working {9}20m 25s \/ 7 {7}14,200 {2}runs npm test and waits …$/),
    );
    expect(lines).toContainEqual(expect.stringMatching(/^▸\? WORDS-7 {3}question {8}4m 12s .* The agent asks: Which/));
    expect(lines).toContainEqual(
      expect.stringMatching(/^ ↻ WORDS-9 {3}retry 2 .* 42s {8}worker crashed restarting cleanly *$/),
    );
    expect(lines).toContainEqual(expect.stringMatching(/^ ✓ WORDS-2 {3}done {12}10m 0s {8}What WORDS-2 was about *$/));
  });

  it('shows the next try of an issue that waits for a time, not the next poll of one that waits for something', () => {
    const queued = { kind: 'queue', attempt: null, reason: 'waits', next_check_at: ago(-42) } as const;
    const rows = [waiting('W-1', { ...queued, code: 'blocked' }), waiting('W-2', { ...queued, code: 'day_limit' })];
    const lines = seen([now({ waiting: rows })]);
    expect(lines.filter((line) => / W-\d /.test(line)).map((line) => line.includes(' 42s '))).toEqual([false, true]);
  });

  // @conforms S13
  it.each([40, 80, 115, 120, 140, 200])(
    'fills %d columns with each row, and its columns stand below their titles (S13)',
    (columns) => {
      const { lines } = drawFrame(stateOf([busy()]), { columns, rows: 40 }, sceneAt);
      expect(new Set(lines.map(lineWidth))).toEqual(new Set([columns]));
      const place = lines.findIndex((line) => lineText(line).startsWith(' ● WORDS-1 '));
      // Beside the name of the list, and beside the mark and the identifier.
      const titles = columnsOf(lines[place - 1] ?? []).slice(1);
      const cells = columnsOf(lines[place] ?? []).slice(2);
      expect(cells).toEqual(titles);
      const row = lineText(lines[place] ?? []);
      for (const text of ['20m 25s / 7', 'runs npm']) expect(titles).toContain(row.indexOf(text));
      if (columns >= 80) expect(titles).toContain(row.indexOf('14,200'));
      expect(row.includes('The work of WORDS-1')).toBe(columns >= 120);
    },
  );

  it('says when there is nothing', () => {
    expect(emptyLists(seen([now()]))).toHaveLength(4);
  });

  // @conforms top.9
  it('says with a filter how much it hides, and never that there is nothing', () => {
    const lines = seen([busy(), now({ project: 'numbers' })], { filter: 'words-12' }).map((line) => line.trimEnd());
    const counts = lines.flatMap((line) => {
      const [, shown, all] = /^ [A-Z]\D+ (\d+) \D+ (\d+)\b/.exec(line) ?? [];
      return shown === undefined ? [] : [[Number(shown), Number(all)]];
    });
    expect(counts).toEqual([
      [0, 2],
      [1, 3],
      [0, 3],
      [0, 2],
    ]);
    expect(emptyLists(lines)).toEqual([]);
    expect(emptyLists(seen([now()], { filter: 'x' }))).toHaveLength(4);
  });

  it('shows the filter also while an answer stands at the bottom', () => {
    const message = { text: 'retry WORDS-12: it was done', tone: 'good' as const };
    const lines = seen([busy()], { filter: 'words-12', message });
    expect(lines.at(-2)).toContain('it was done');
    expect(lines.at(-1)).toMatch(/\/ .*words-12 {2}Esc .* 1 \D+ 1 $/);
    expect(seen([busy()], { filter: 'words-12' }).at(-1)).toMatch(/\/ .*words-12 {2}Esc .* {2}q \S/);
  });

  it('lists every key on 80 columns and 24 rows, also with a log, and on less that there are more', () => {
    const log = ['one', 'two', 'three', 'four', 'five'];
    const vitals = { paused: { kind: 'drain' as const, since: ago(3), reason: null } };
    const help = seen([now({}, vitals)], { screen: 'help', log });
    for (const key of ['?', 'q', '↑ ↓  j k', 'Tab', 'Enter', 'a', 't', 'r  R', 's', 'o', 'h', 'p', 'd', '/'])
      expect(help).toContainEqual(expect.stringMatching(new RegExp(`^ {2}${key.replaceAll('?', '\\?')} +\\w`)));
    expect(help.join('')).not.toMatch(/…|↓ \d/);
    const lastKey = expect.stringMatching(/^ {2}\/ +\w/);
    const small = seen([now()], { screen: 'help' }, { columns: 80, rows: 12 });
    expect(small.join('\n')).toMatch(/↓ \d/);
    expect(small).not.toContainEqual(lastKey);
    const end = seen([now()], { screen: 'help', pageTop: 1e6 }, { columns: 80, rows: 12 });
    expect(end.join('\n')).not.toMatch(/↓ \d/);
    expect(end).toContainEqual(lastKey);
  });

  it('says which project drains, for how long and why, in other words than for a pause', () => {
    const notice = (kind: 'pause' | 'drain'): string | undefined => {
      const paused = { kind, since: ago(3), reason: 'the evening' };
      return seen([busy(), now({ project: 'numbers' }, { paused })]).find((line) => line.startsWith(' ! '));
    };
    const [pause, drain] = [notice('pause'), notice('drain')];
    for (const each of [pause, drain]) expect(each).toMatch(/^ ! numbers: .* 3s\b.*: the evening *$/);
    expect(drain).not.toBe(pause);
  });

  it('says nothing of that before the daemon has answered', () => {
    const lines = textOf(drawFrame(startState(), usual, sceneAt));
    expect(lines[0]).toMatch(/^ Baton +○ \S+ $/);
    expect(emptyLists(lines)).toEqual([]);
  });

  // @conforms S7
  it('shows when the tracker is polled next, that it is polled now, or that nothing is planned (S7)', () => {
    const { polling } = now().vitals;
    const right = (more: Partial<typeof polling>): string =>
      seen([now({}, { polling: { ...polling, ...more } })])[0]
        ?.split(' · ')
        .at(-1) ?? '';
    const [planned, checking, none] = [{ next_poll_at: ago(-2) }, { is_polling: true }, { next_poll_at: null }].map(
      right,
    );
    expect(planned).toMatch(/ 2s $/);
    for (const each of [checking, none]) expect(each).not.toMatch(/\d/);
    expect(new Set([planned, checking, none]).size).toBe(3);
  });

  // @conforms S2
  it.each([
    [120, 0],
    [80, 0],
    [50, 3],
  ])('shows where the dashboard is on %d columns (S2)', (columns, row) => {
    const lines = seen([now()], { address: 'http://127.0.0.1:4000/' }, { columns, rows: 24 });
    expect(lines[row]).toContain('http://127.0.0.1:4000/');
    expect(seen([now()]).join('')).not.toContain('http');
  });

  it('shows problems, a pause, and what is short', () => {
    const vitals = {
      problems: [{ code: 'x', text: 'The tracker does not\nanswer.' }],
      paused: { kind: 'pause' as const, since: ago(300), reason: 'lunch' },
      budget: { step: 'stretched', text: '90 % of the requests are used', until: null },
    };
    const account = {
      key: 'main',
      backend: 'codex',
      name: 'main',
      unavailable_until: ago(-60),
      unavailable_because: 'quota' as const,
      waits_for: 'no quota left',
      windows: [],
    };
    const lines = seen([now({ accounts: [account] }, vitals)]);
    expect(lines[0]).toContain('● 1 ');
    expect(lines.slice(2, 6).map((line) => line.trimEnd())).toEqual([
      ' ! The tracker does not answer.',
      expect.stringMatching(/^ ! .* 5m 0s.*: lunch$/),
      expect.stringMatching(/^ ! .*: 90 % of the requests are used$/),
      expect.stringMatching(/^ ! .* main: no quota left .*1m 0s/),
    ]);
  });

  it('never shows more money than was spent', () => {
    const today = { tokens: 1, cost_usd: 19.999_9, token_limit: 5_000_000, cost_limit_usd: 20 };
    expect(seen([now({}, { today })])[1]).toMatch(/ 1 [^·]* 5,000,000 · \$19\.99 [^·]*\$20\.00 /);
    expect(seen([now({}, { today: { ...today, cost_usd: 0.29 } })])[1]).toContain('$0.29');
    // Tokens without a price are not free; a day without tokens is.
    const unpriced = seen([now({}, { today: { ...today, cost_usd: 0 } })])[1];
    expect(unpriced).toContain('agent.prices');
    expect(unpriced).not.toContain('$0.00');
    expect(seen([now({}, { today: { ...today, cost_usd: 0, tokens: 0 } })])[1]).toContain('$0.00');
  });

  it('keeps its content while the daemon is gone, and says since when', () => {
    const state = stateOf([busy()], { gone: { since: sceneAt + 1_000, text: 'connect ENOENT' } });
    const lines = textOf(drawFrame(state, usual, sceneAt + 61_000));
    expect(lines[0]).toMatch(/ ○ \S/);
    expect(lines[2]).toMatch(/^ ! .* 12:00:01Z \(1m 0s\)/);
    expect(lines.join('\n')).toContain('20m 25s / 7');
  });

  // @conforms 4.115
  it('shows the slots of judges next to the others', () => {
    const slots = { used: 3, limit: 3, judges: { used: 1, limit: 2 } };
    expect(seen([now({}, { slots })])[1]).toMatch(/ 3\/3 \+ 2 /);
  });

  it('names the project of each row when there are several', () => {
    const lines = seen([now({ running: [running('A-1')] }), now({ project: 'numbers', running: [running('B-1')] })]);
    expect(lines[0]).toContain('Baton · words · numbers');
    expect(lines).toContainEqual(expect.stringMatching(/^ ● B-1 {7}numbers /));
    expect(lines[1]).toMatch(/ 0\/6 · 2 \S+ · 40,400 /);
  });

  it('shows a question with its fields and options, why it waits and the last messages', () => {
    const issue = {
      questions: [colourQuestion],
      retry: null,
      why_unknown: null,
      title: 'T',
      explanation: {
        gates: [
          { gate: 'slot', passed: false, code: 'project_full', text: 'no slot (3 of 3)' },
          { gate: 'state', passed: true, code: null, text: 'active' },
        ],
        reason: null,
        starts_before: 0,
        counts: { runs: 0, failures: 0, stale_runs: 0, no_signals: 0 },
        next: 'It starts when a slot is free.',
      },
    } as unknown as NonNullable<NonNullable<TopState['details']>['issue']>;
    const events = [1, 2].map((seq) => ({ seq, at: ago(10 - seq), event: 'message', message: `said ${seq}` }));
    const details = { project: 'words', issueId: 'id-WORDS-7', issue, events, problem: null };
    const text = seen([busy()], { screen: 'details', details }, { columns: 80, rows: 40 }).join('\n');
    for (const words of [
      '× no slot (3 of 3)',
      'It starts when a slot',
      'Which colour',
      'It is seen by',
      '1  red',
      '2  blue',
    ])
      expect(text).toContain(words);
    expect(text).not.toContain('× active');
    expect(text.indexOf('said 2')).toBeLessThan(text.indexOf('said 1'));
    const other = seen([busy()], { screen: 'details', details: { ...details, issueId: 'id-WORDS-3' } });
    expect(other.join('\n')).not.toContain('said 2');
  });

  it('shows the reason of a hold once, with a command that works where the reader is', () => {
    const reason = 'It failed. To continue: baton issue retry W-1';
    const held = needsYou('W-1', { kind: 'held', code: 'retries_exhausted', reason, actions: ['issue_retry'] });
    const gates = [{ gate: 'free_here', passed: false, code: 'claimed', text: 'it is on hold' }];
    const explanation = { gates, next: `it is on hold: ${reason}`, reason: null };
    const issue = { questions: [], why_unknown: null, title: 'T', explanation };
    const details = { project: 'words', issueId: 'id-W-1', issue, events: [], problem: null } as unknown as Details;
    const here = commandsHere({ workflow: 'x/W.md' }, { batonPath: '/opt/baton', env: {} });
    const shown = { screen: 'details', details, here } as const;
    const text = seen([now({ needs_you: [held] })], shown, { columns: 160, rows: 40 }).join('\n');
    expect(text.split('It failed.')).toHaveLength(2);
    expect(text.split('on hold')).toHaveLength(2);
    expect(text).toContain('/opt/baton issue retry W-1 --workflow x/W.md');
  });

  it('has no obstacles for an issue that runs', () => {
    const gates = [{ gate: 'free_here', passed: false, code: 'claimed', text: 'an agent is working on it' }];
    const issue = { questions: [], why_unknown: null, title: 'T', explanation: { gates, next: 'its run continues' } };
    const details = { project: 'words', issueId: 'id-W-1', issue, events: [], problem: null } as unknown as Details;
    const text = seen([now({ running: [running('W-1')] })], { screen: 'details', details }).join('\n');
    expect(text).not.toContain('×');
    expect(text).toContain('its run continues');
  });

  it('says how many rows it hides, above and below', () => {
    const rows = Array.from({ length: 30 }, (_, at) => finished(`W-${at}`));
    const hiddenIn = (listTop: number, at: number): string => {
      const selection = { key: `words\nfinished\n${rows[at]?.key}`, project: 'words', issueId: null, at };
      const lines = seen([now({ finished: rows })], { listTop, selection }, { columns: 80, rows: 24 });
      return lines.find((line) => / more/.test(line)) ?? '';
    };
    const visible = seen([now({ finished: rows })], {}, { columns: 80, rows: 24 }).filter((line) => / W-\d/.test(line));
    expect(hiddenIn(0, 0).trim()).toBe(`↓ ${30 - visible.length} more`);
    expect(hiddenIn(0, 29)).toMatch(/^ ↑ \d+ more *$/);
    expect(seen([now({ finished: rows.slice(0, 2) })]).join('\n')).not.toContain(' more');
  });

  it('does not call an unknown cost nothing', () => {
    const vitals = (tokens: number, cost_usd: number) =>
      seen([now({}, { today: { ...now().vitals.today, tokens, cost_usd } })]).join('\n');
    expect(vitals(500, 0)).not.toContain('$0.00');
    expect(vitals(0, 0)).toContain('$0.00');
    expect(vitals(500, 0.5)).toContain('$0.50');
  });

  it('offers to hand back only what a person took over', () => {
    const footOf = (actions: string[]): string =>
      seen([now({ needs_you: [needsYou('W-1', { kind: 'held', actions })] })]).at(-1) ?? '';
    expect(footOf(['issue_handback'])).toContain(' h ');
    expect(footOf(['issue_retry', 'issue_release'])).not.toContain(' h ');
  });

  it('keeps the selected row in sight, and the title over the first', () => {
    const nows = [now({ running: Array.from({ length: 60 }, (_, at) => running(`W-${at}`)) })];
    let state = stateOf(nows);
    for (const at of [59, 30, 0, 17, 59, 58]) {
      const row = state.rows[at];
      const selection = { key: row?.key ?? '', project: 'words', issueId: row?.issueId ?? null, at };
      const frame = drawFrame({ ...state, selection }, usual, sceneAt);
      state = { ...state, listTop: frame.listTop };
      const lines = textOf(frame);
      expect(lines.filter((line) => line.startsWith('▸'))).toHaveLength(1);
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^▸● W-${at} `)));
      if (at === 0) expect(titleOver(lines, '▸● W-0 ')).toMatch(/^ \S+ 60 /);
    }
  });

  const anyNow: fc.Arbitrary<Now> = fc
    .record({ words: fc.array(hostile, { minLength: 8, maxLength: 8 }), rows: fc.nat(30), number: fc.nat() })
    .map(({ words, rows, number }) => {
      const [a = '', b = '', c = '', d = '', e = '', f = '', g = '', h = ''] = words;
      const each = <T>(make: (key: string) => T): T[] => Array.from({ length: rows }, (_, at) => make(`${at}`));
      const many = { issue_identifier: a, title: b, issue_url: c };
      return now(
        {
          project: d,
          needs_you: each((key) => needsYou(key, { ...many, reason: e, waits_until: ago(-number % 1e6) })),
          running: each((key) =>
            running(key, {
              ...many,
              stage: f,
              last_message: g,
              turn: number,
              session_id: h,
              workspace_path: h,
              account: h,
              warnings: [{ limit: 'x', level: 'warning', text: h }],
            }),
          ),
          waiting: each((key) => waiting(key, { ...many, reason: h, attempt: number })),
          finished: each((key) => finished(key, { ...many, state: a })),
        },
        {
          problems: [{ code: a, text: b }],
          paused: { kind: 'drain', since: ago(1), reason: c },
          slots: { used: number, limit: number },
        },
      );
    });
  const anyState = fc
    .record({
      nows: fc.array(anyNow, { maxLength: 2 }),
      screen: fc.constantFrom<TopState['screen'][]>('list', 'details', 'help'),
      address: fc.option(hostile),
      message: fc.option(hostile.map((text) => ({ text, tone: 'bad' as const }))),
      gone: fc.option(hostile.map((text) => ({ since: sceneAt, text }))),
      log: fc.array(hostile, { maxLength: 3 }),
      filter: fc.oneof(fc.constant(''), hostile),
      at: fc.nat(100),
      typed: fc.tuple(hostile, hostile),
      asked: fc.constantFrom('filter', 'steer', 'field', 'decision', 'confirm', null),
    })
    .map(({ nows, at, typed: [before, after], asked, ...more }) => {
      const input = { before, after };
      const question = {
        ...colourQuestion,
        text: before,
        detail: after,
        fields: colourQuestion.fields.map((field) => ({ ...field, label: before, options: [after, before] })),
      };
      const answering = { project: 'words', identifier: cellText(before), question, values: {} };
      const prompts = {
        filter: { kind: 'filter', input },
        steer: { kind: 'text', label: cellText(after), wish: () => null, input },
        field: { kind: 'field', answering, input },
        decision: { kind: 'decision', answering },
        confirm: {
          kind: 'confirm',
          label: cellText(before),
          wish: { project: '', name: '', request: { kind: 'drain' } },
        },
      } as const;
      const issue = {
        questions: [question],
        explanation: null,
        why_unknown: before,
        retry: null,
        title: after,
      } as unknown as null;
      const details = {
        project: nows[0]?.project ?? '',
        issueId: 'id-0',
        issue,
        events: [{ seq: 1, at: ago(1), event: before, message: after }],
        problem: before,
      };
      const prompt = asked === null ? null : prompts[asked];
      return stateOf(nows, {
        ...more,
        prompt,
        details,
        selection: { key: 'gone', project: 'gone', issueId: null, at },
        pageTop: at,
      });
    });

  // @conforms top.2
  it('is exactly as large as its terminal, with no control characters but ours, whatever is shown', () => {
    fc.assert(
      fc.property(
        anyState,
        fc.integer({ min: 1, max: 220 }),
        fc.integer({ min: 1, max: 70 }),
        (state, columns, rows) => {
          const { lines } = drawFrame(state, { columns, rows }, sceneAt);
          expect(lines).toHaveLength(rows);
          for (const line of lines) {
            expect(lineWidth(line)).toBe(columns);
            expect(lineText(line)).toMatch(harmless);
            expect(paintLine(line, colours)).toMatch(ours);
            expect(paintLine(line, noColours)).not.toMatch(colour);
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });
});
