import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Now } from '../../../src/client/schema/now.ts';
import { leaveNoPlaces, Place } from '../run-baton.ts';
import { busy, colourQuestion, now, running, waiting } from './now-scene.ts';
import { makeTerminal, PseudoTerminal, playScene, scriptedTop, type TerminalSize } from './pseudo-terminal.ts';
import type { Scene } from './scene.ts';

leaveNoPlaces();

const usual: TerminalSize = { columns: 80, rows: 24 };
const sizes: readonly TerminalSize[] = [usual, { columns: 120, rows: 40 }, { columns: 200, rows: 60 }];

/** Since when the daemon does not answer, as the view says it. */
const silentSince = /\d\d:\d\d:\d\dZ/;
/** The foot with its keys, and not a question or an answer in their place. */
const keys = /\? \S+ {2}q \S/;
/** A question with yes or no as its answer. */
const yesOrNo = / {2}y \S+ {2}n \S/;

const hostile =
  '漢字 \u001b[2J\u001b[H\u001b]0;owned\u0007\u009b31m\u202eLTR\u200b\r\nline\u0000 e\u0301\u0301\u0301\u0301\u0301 👩‍👧 \u0301x';

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
const steering = /[\u0000-\u001f\u007f-\u009f\u200b\u202e]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what the view writes.
const ours = /\u001b\[(?:\?\d+[hl]|[\d;]*[mGHK]|2J)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what the view writes.
const colour = /\u001b\[(?:\d;)?[34]\dm/;

function scene(nows: readonly Now[] | null, more: Partial<Scene> = {}): Scene {
  return {
    address: 'http://127.0.0.1:4000/',
    nows,
    events: [],
    isBroken: false,
    issue: { questions: [], explanation: null, why_unknown: null, retry: null, title: '' },
    answer: { status: 'done', text: 'it was done' },
    ...more,
  };
}

/** Waits for a terminal with the view on it, seen for the first time. */
async function openTerminal(place: Place, size: TerminalSize, first: Scene): Promise<PseudoTerminal> {
  playScene(place, first);
  const terminal = new PseudoTerminal(place, size, scriptedTop);
  // It is known with the first answer.
  await terminal.sees(first.address ?? ' ● ');
  return terminal;
}

describe.skipIf(!existsSync(makeTerminal))('baton top on a terminal', () => {
  // @conforms top.1
  it.each(sizes)('shows everything on $columns columns and $rows rows, and restores the screen', async (size) => {
    using place = new Place({ TERM: 'xterm-256color' });
    await using terminal = await openTerminal(place, size, scene([busy()]));
    expect(terminal.isAlternate()).toBe(true);
    const lines = terminal.lines();
    expect(lines[0]).toMatch(/^ Baton · words · http:\/\/127\.0\.0\.1:4000\/ +● \S+ · .* \d+s$/);
    expect(lines[1]).toMatch(/ 3\/3 · 3 \S+ · 20,200 [^·]* · \$2\.50 [^·]*\$20\.00/);
    // Each list has a title with its count.
    const counts = lines.flatMap((line) => /^ [A-Z]\D+ (\d+) {2}/.exec(line)?.[1] ?? []);
    expect(counts).toEqual(['2', '3', '3', '2']);
    expect(lines.join('\n')).toContain('worker crashed restarting');
    expect(lines.at(-1)).toMatch(/ {2}q \S+ .* 1 \D+ 10$/);
    // The columns of a list stand below one another.
    const running = lines.filter((line) => /^ [●?] WORDS-(?:1|7) /.test(line) && line.includes('14,200'));
    expect(new Set(running.map((line) => line.indexOf('14,200'))).size).toBe(1);
    terminal.type('q');
    expect(await terminal.ended()).toBe(0);
    expect(terminal.isAlternate()).toBe(false);
    expect(terminal.lines().slice(0, 2)).toEqual(['before', 'ended: quit']);
    expect(terminal.raw()).toContain('\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l');
    expect(place.read('after')).toMatch(/ icanon .* echo /s);
  });

  // @conforms S14
  it.each([
    ['Ctrl-C', (terminal: PseudoTerminal) => terminal.type('\u0003'), 'interrupted'],
    ['SIGTERM', (terminal: PseudoTerminal) => terminal.signal('SIGTERM'), 'stopped'],
    [
      'an error',
      (terminal: PseudoTerminal) => terminal.play(scene([busy()], { isBroken: true })),
      'error nobody expected this',
    ],
  ])('restores the screen after %s', async (_, end, how) => {
    using place = new Place({ TERM: 'xterm-256color' });
    await using terminal = await openTerminal(place, usual, scene([busy()]));
    end(terminal);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.isAlternate()).toBe(false);
    expect(terminal.lines().slice(0, 2)).toEqual(['before', `ended: ${how}`]);
    expect(terminal.raw()).toContain('\u001b[?25h');
    expect(place.read('after')).toMatch(/ icanon .* echo /s);
  });

  it('adapts to a new window size at once', async () => {
    using place = new Place({ TERM: 'xterm-256color' });
    await using terminal = await openTerminal(place, usual, scene([busy()]));
    for (const size of [{ columns: 120, rows: 40 }, { columns: 40, rows: 12 }, usual]) {
      const before = terminal.raw().length;
      await terminal.resize(size);
      const fits = (): boolean => / \d+s$/.test(terminal.lines()[0] ?? '') && keys.test(terminal.lines().at(-1) ?? '');
      await terminal.until(fits, 'it did not follow');
      const lines = terminal.lines();
      expect(lines).toHaveLength(size.rows);
      expect(lines.filter((line) => keys.test(line))).toHaveLength(1);
      expect(terminal.raw().slice(before)).toContain('\u001b[2J');
    }
  });

  it('is controlled by keys, and shows the answer of the daemon until the next key', async () => {
    using place = new Place({ TERM: 'xterm-256color' });
    const issue = { ...scene(null).issue, questions: [colourQuestion] };
    await using terminal = await openTerminal(place, usual, scene([busy()], { issue }));
    // Down twice: the first of those that run.
    terminal.type('j\u001b[B');
    await terminal.sees('▸● WORDS-1');
    terminal.type('tmind the tests\r');
    await terminal.sees('steer WORDS-1: it was done');
    terminal.type('?');
    await terminal.sees(/^ {2}Tab +\S/m);
    expect(terminal.lines().join('\n')).not.toContain('it was done');
    terminal.type('\u001b');
    await terminal.sees('▸● WORDS-1');
    terminal.type('d');
    await terminal.sees(new RegExp(`words.*${yesOrNo.source}`));
    terminal.type('n');
    await terminal.sees(keys);
    terminal.type('\u001b[Aks');
    await terminal.sees(new RegExp(`WORDS-7.*${yesOrNo.source}`));
    terminal.type('\u001b');
    await terminal.sees(keys);
    // The answer is asked for field by field; what does not fit is told at once.
    terminal.type('a');
    await terminal.sees('Colour: 1 red · 2 blue');
    terminal.type('green\r');
    await terminal.sees('"green"');
    terminal.type('\u00152\r');
    await terminal.sees('Why:');
    terminal.type('it is calm\r');
    await terminal.sees('answer WORDS-7: it was done');
    const asked = terminal.asked();
    expect(asked.map(({ request: { key: _, ...request } }) => request)).toEqual([
      { kind: 'issue_steer', issue: 'id-WORDS-1', text: 'mind the tests' },
      { kind: 'question_answer', question: 'q-7', decision: 'accept', values: { colour: 'blue', why: 'it is calm' } },
    ]);
    expect(new Set(asked.map(({ request }) => request.key)).size).toBe(2);
  });

  it('never treats pasted text as keys', async () => {
    using place = new Place({ TERM: 'xterm-256color' });
    await using terminal = await openTerminal(place, usual, scene([busy()]));
    terminal.type('\u001b[200~dy\rsyq\u001b[201~');
    terminal.type('/');
    await terminal.until(() => !keys.test(terminal.lines().at(-1) ?? ''), 'it never asked for a filter');
    terminal.type('\u001b[200~words-9\rq\u001b[201~');
    await terminal.sees(': words-9 q');
    expect(terminal.asked()).toEqual([]);
  });

  it('keeps its content while the daemon is gone, says since when, and comes back by itself', async () => {
    using place = new Place({ TERM: 'xterm-256color' });
    await using terminal = await openTerminal(place, usual, scene([busy()]));
    terminal.play(scene(null));
    await terminal.sees(silentSince);
    await terminal.sees(' ○ ');
    await terminal.sees('WORDS-10');
    terminal.play(scene([now({ waiting: [waiting('WORDS-99')] })]));
    await terminal.sees('WORDS-99');
    await terminal.sees(' ● ');
    expect(terminal.lines().join('\n')).not.toMatch(silentSince);
    expect(terminal.lines().join('\n')).not.toContain('WORDS-10');
  });

  it('shows hostile text as text in its place, and nothing else moves', async () => {
    using place = new Place({ TERM: 'xterm-256color' });
    const row = running('X-1', { title: hostile, last_message: hostile, stage: hostile, issue_identifier: hostile });
    const scenes = now({ running: [row, running('X-2')], waiting: [waiting('X-3', { reason: hostile })] });
    await using terminal = await openTerminal(
      place,
      { columns: 120, rows: 24 },
      scene([{ ...scenes, project: hostile }]),
    );
    await terminal.sees('X-3');
    const lines = terminal.lines();
    const frames = terminal.raw().slice(terminal.raw().indexOf('\u001b[?1049h'));
    expect(frames.replaceAll(ours, '')).not.toMatch(steering);
    // The column of tokens stands where it stands elsewhere, whatever is to the left of it.
    const [above = -1, below = -2] = ['␛', 'X-2'].map((name) => terminal.columnOf(name, '14,200'));
    expect(above).toBe(below);
    expect(lines.at(-1)).toMatch(keys);
    terminal.type('\r');
    await terminal.sees(/^ Esc \S/m);
    terminal.type('q');
    expect(await terminal.ended()).toBe(0);
  });

  it('writes nothing while nothing changes, and one frame for all changes', async () => {
    using place = new Place({ TERM: 'xterm-256color' });
    const still = now({ waiting: [waiting('WORDS-1', { next_check_at: null })] });
    const polling = { ...still.vitals.polling, next_poll_at: null };
    const scenes = [{ ...still, vitals: { ...still.vitals, polling } }];
    await using terminal = await openTerminal(place, usual, scene(scenes));
    await terminal.sees('WORDS-1');
    await sleep(600);
    const before = terminal.raw().length;
    await sleep(2_000);
    expect(terminal.raw().slice(before)).toBe('');
    terminal.play(scene([now({ running: [running('WORDS-1'), running('WORDS-2')] }, { polling })]));
    await terminal.sees('WORDS-2');
    const frames = terminal.raw().slice(before).split('\u001b[?2026h').slice(1);
    // The ages go on; the first frame has the change.
    expect(frames[0]).toContain('WORDS-2');
    expect(frames[0]).toContain('\u001b[?2026l');
    expect(frames[0]).not.toContain('Baton');
  });

  it('uses no colour with NO_COLOR', async () => {
    using place = new Place({ TERM: 'xterm-256color', NO_COLOR: '1' });
    await using terminal = await openTerminal(place, usual, scene([busy()]));
    await terminal.sees('▸? WORDS-7');
    expect(terminal.raw()).not.toMatch(colour);
  });
});
