import { EventEmitter } from 'node:events';
import headless from '@xterm/headless';
import { describe, expect, it } from 'vitest';
import { runTop, type TopEnd } from '../../../src/cli/top/run-top.ts';
import type { TopAnswer, TopSource } from '../../../src/cli/top/top-source.ts';
import type { CommandRequest } from '../../../src/client/schema/command.ts';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import type { Now } from '../../../src/client/schema/now.ts';
import { sleep } from '../../../src/clock/clock.ts';
import { seededChance } from '../../fake/seeded-chance.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { busy, colourQuestion, needsYou, now, sceneAt, waiting } from './now-scene.ts';

/** The view on a simulated clock, with streams that only remember. The real ones are in `top-terminal.test.ts`. */
class View {
  readonly clock = new SimulatedClock({ startAt: sceneAt });
  readonly stdin = Object.assign(new EventEmitter(), {
    isTTY: true,
    isRaw: false,
    resume: () => {},
    pause: () => {},
    setRawMode: (raw: boolean) => {
      this.stdin.isRaw = raw;
    },
  });
  readonly stdout = Object.assign(new EventEmitter(), {
    isTTY: true,
    columns: 80,
    rows: 24,
    write: (text: string) => {
      this.writes.push(text);
      this.#screen.write(text);
      return true;
    },
  });
  readonly env: Record<string, string> = {};
  readonly writes: string[] = [];
  readonly submitted: CommandRequest[] = [];
  readonly stop = new AbortController();
  readonly #screen = new headless.Terminal({ cols: 80, rows: 24, allowProposedApi: true });
  nows: () => Promise<readonly Now[]> = async () => [busy()];
  issue: (id: string) => Promise<IssueDetail> = async () => issueWith([]);
  answer: () => Promise<TopAnswer> = async () => ({ status: 'done', text: 'it was done' });
  log: string[] = [];
  address: string | null = null;
  refreshMs = 0;
  ended: TopEnd | Error | null = null;

  start(): this {
    const address = (): string | null => this.address;
    const source: TopSource = {
      get address() {
        return address();
      },
      now: () => this.nows(),
      issue: (_, id) => this.issue(id),
      events: async () => [],
      log: () => this.log.splice(0),
      submit: (_, request) => {
        this.submitted.push(request);
        return this.answer();
      },
    };
    const { stdin, stdout, env, stop, refreshMs } = this;
    const terminal = { stdin, stdout, env, onSignal: () => () => {} } as unknown as Parameters<typeof runTop>[1];
    runTop(source, terminal, this.clock, { chance: seededChance(1), stop: stop.signal, refreshMs }).then(
      (how) => {
        this.ended = how;
      },
      (error: Error) => {
        this.ended = error;
      },
    );
    return this;
  }

  type(keys: string): void {
    this.stdin.emit('data', Buffer.from(keys));
  }

  async seen(): Promise<string> {
    await new Promise<void>((resolve) => this.#screen.write('', resolve));
    const { active } = this.#screen.buffer;
    return Array.from({ length: 24 }, (_, row) => active.getLine(row)?.translateToString(true) ?? '').join('\n');
  }

  async after(ms: number): Promise<string> {
    await this.clock.advance(ms);
    return this.seen();
  }
}

function issueWith(questions: IssueDetail['questions'], title = 'T'): IssueDetail {
  // The view takes no more of an issue than this.
  return { questions, explanation: null, why_unknown: null, retry: null, title } as unknown as IssueDetail;
}

/** Since when the daemon does not answer, as the view says it. */
const silentSince = /(\d\d:\d\d:\d\d)Z \(/;
const begins = '\u001b[?2026h';
const ends = '\u001b[?2026l';

describe('the terminal view', () => {
  // @conforms S11
  it('draws at most four frames a second, each in one write, however much changes', async () => {
    const view = new View().start();
    await view.clock.advance(1_000);
    // Forty commands, and every tenth of a second one is answered.
    let answered = 0;
    view.answer = async () => {
      answered += 1;
      const text = `answer ${answered}`;
      await sleep(view.clock, 1_000 + answered * 100);
      return { status: 'refused', text };
    };
    view.type('r'.repeat(40));
    await view.clock.advance(1_000);
    const before = view.writes.length;
    await view.clock.advance(4_000);
    const frames = view.writes.slice(before);
    expect(answered).toBe(40);
    expect(frames.length).toBeLessThanOrEqual(16);
    expect(frames.length).toBeGreaterThanOrEqual(12);
    for (const frame of frames) {
      expect(frame.startsWith(begins) && frame.endsWith(ends)).toBe(true);
      expect(frame.split(begins)).toHaveLength(2);
      expect(frame).not.toContain('Baton');
    }
  });

  // @conforms S11
  it.each([
    [0, 4, 16],
    [250, 4, 16],
    [2_000, 4, 5],
  ])('draws every %d ms, up to four times a second', async (refreshMs, least, most) => {
    const view = new View();
    view.refreshMs = refreshMs;
    let asked = 0;
    view.nows = async () => {
      asked += 1;
      return [now({ waiting: [waiting(`W-${asked}`)] })];
    };
    view.start();
    await view.clock.advance(2_000);
    const [before, askedBefore] = [view.writes.length, asked];
    await view.clock.advance(8_000);
    expect(view.writes.length - before).toBeGreaterThanOrEqual(least);
    expect(view.writes.length - before).toBeLessThanOrEqual(most);
    expect(asked - askedBefore).toBeLessThanOrEqual(most);
    // Keys do not wait for it.
    view.type('/wor');
    expect(await view.after(20)).toMatch(/: wor ?$/m);
  });

  it('skips frames while the terminal has not taken the last one, and then shows the current state', async () => {
    const view = new View().start();
    await view.clock.advance(1_000);
    Object.assign(view.stdout, { writableLength: 5 });
    const before = view.writes.length;
    view.nows = async () => [now({ waiting: [waiting('W-1')] })];
    await view.clock.advance(60_000);
    expect(view.writes).toHaveLength(before);
    view.nows = async () => [now({ waiting: [waiting('W-2')] })];
    Object.assign(view.stdout, { writableLength: 0 });
    const seen = await view.after(1_000);
    expect(seen).toContain('W-2');
    expect(seen).not.toMatch(/W-1|WORDS-7/);
  });

  it('shows where the dashboard is as soon as a daemon answers, and when it moves', async () => {
    const view = new View().start();
    view.address = 'http://127.0.0.1:1111';
    expect(await view.after(1_000)).toContain('http://127.0.0.1:1111');
    view.nows = async () => {
      throw new Error('gone');
    };
    view.address = null;
    expect(await view.after(1_000)).toContain('http://127.0.0.1:1111');
    view.nows = async () => [busy()];
    view.address = 'http://127.0.0.1:2222';
    expect(await view.after(1_000)).toContain('http://127.0.0.1:2222');
  });

  it('shows typed text at once', async () => {
    const view = new View().start();
    await view.clock.advance(1_000);
    view.type('/wor');
    expect(await view.after(20)).toMatch(/: wor ?$/m);
  });

  it('is drawn again at once after a change of the window size', async () => {
    const view = new View().start();
    await view.clock.advance(1_000);
    const before = view.writes.length;
    view.stdout.columns = 60;
    view.stdout.emit('resize');
    expect(view.writes.slice(before).join('')).toContain('\u001b[2J');
  });

  it('says after a while that a hanging daemon does not answer, and asks again', async () => {
    const view = new View().start();
    await view.clock.advance(1_000);
    view.nows = () => new Promise(() => {});
    expect(await view.after(4_000)).not.toMatch(silentSince);
    const gone = await view.after(3_000);
    expect(gone).toContain('○ ');
    expect(silentSince.exec(gone)?.[1]).toBe('12:00:06');
    view.nows = async () => [now({ waiting: [waiting('W-77')] })];
    const back = await view.after(6_000);
    expect(back).toContain('W-77');
    expect(back).not.toMatch(silentSince);
  });

  it('gives each command its own key, and shows its answer until the next key', async () => {
    const view = new View().start();
    await view.clock.advance(1_000);
    view.answer = async () => {
      throw new Error('nobody is there');
    };
    view.type('r');
    expect(await view.after(100)).toContain('retry WORDS-7: nobody is there');
    view.answer = async () => ({ status: 'waiting', text: 'it waits\nfor a daemon \u001b[31m' });
    view.type('r');
    expect(await view.after(300)).toContain('retry WORDS-7: it waits for a daemon');
    expect(await view.after(5_000)).toContain('retry WORDS-7: it waits for a daemon');
    view.type('j');
    expect(await view.after(300)).not.toContain('it waits for');
    const keys = view.submitted.map(({ key }) => key);
    expect(new Set(keys).size).toBe(2);
    expect(keys).not.toContain(undefined);
  });

  it('shows a whole answer, also a path that is longer than a line', async () => {
    const view = new View().start();
    view.stdout.columns = 40;
    await view.clock.advance(1_000);
    const path = `/home/${'folder/'.repeat(10)}WORDS-7`;
    view.answer = async () => ({ status: 'done', text: `Go on in ${path} by hand.` });
    view.type('oy');
    const lines = (await view.after(300)).split('\n').map((line) => line.trim());
    expect(lines.join('')).toContain(path);
  });

  it('shows only the details of the opened issue, whichever answer comes last', async () => {
    const view = new View();
    const waits = new Map<string, (issue: IssueDetail) => void>();
    view.issue = (id) => new Promise((resolve) => waits.set(id, resolve));
    view.start();
    await view.clock.advance(1_000);
    view.type('\r\u001b[Dj\r');
    await view.clock.advance(100);
    waits.get('id-WORDS-3')?.(issueWith([{ ...colourQuestion, text: 'The right one?' }]));
    expect(await view.after(300)).toContain('The right one?');
    waits.get('id-WORDS-7')?.(issueWith([{ ...colourQuestion, text: 'The wrong one?' }]));
    expect(await view.after(300)).toContain('The right one?');
    expect(await view.seen()).not.toContain('The wrong one?');
  });

  it('opens no answer to a missing question, and says so', async () => {
    const view = new View().start();
    await view.clock.advance(1_000);
    view.type('a');
    // A sentence about the issue stands where the keys were.
    expect((await view.after(300)).split('\n').at(-1)).toMatch(/^ WORDS-7 [^:]+$/);
    view.issue = async () => issueWith([{ ...colourQuestion, id: 'other', text: 'Another?' }, { ...colourQuestion }]);
    view.type('a');
    // The question of the row, not just any of the issue.
    expect(await view.after(300)).toMatch(/^ WORDS-7 .*: Which colour/m);
  });

  it('returns to the list when the opened row is gone', async () => {
    const view = new View().start();
    await view.clock.advance(1_000);
    view.type('\r');
    expect(await view.after(300)).toMatch(/^ Esc \S/m);
    view.nows = async () => [now({ needs_you: [needsYou('W-8')] })];
    expect(await view.after(1_000)).toMatch(/^▸! W-8 /m);
    // A sentence stands where the keys were.
    expect((await view.seen()).split('\n').at(-1)).not.toMatch(/ {2}q \S|^ *$/);
    expect(view.submitted).toEqual([]);
  });

  it.each([
    ['q', 'quit'],
    ['\u0003', 'interrupted'],
  ])('ends by %j and restores the terminal, with nothing left running', async (key, how) => {
    const view = new View().start();
    await view.clock.advance(1_000);
    expect(view.stdin.isRaw).toBe(true);
    view.type(key);
    await view.clock.settle();
    expect(view.ended).toBe(how);
    expect(view.stdin.isRaw).toBe(false);
    expect(view.writes.at(-1)).toMatch(/\[\?1049l$/);
    expect(view.clock.pending).toBe(0);
    expect([view.stdin, view.stdout].flatMap((stream) => stream.eventNames())).toEqual([]);
    const written = view.writes.length;
    await view.clock.advance(10_000);
    expect(view.writes).toHaveLength(written);
  });

  it.each([
    ['an answer that is none', (view: View) => Object.assign(view, { nows: async () => [null] })],
    ['a stream that fails', (view: View) => view.stdout.emit('error', new Error('EIO'))],
    ['whoever started it', (view: View) => view.stop.abort()],
  ])('is ended by %s, and restores the terminal', async (_, end) => {
    const view = new View().start();
    await view.clock.advance(1_000);
    end(view);
    await view.clock.advance(2_000);
    expect(view.ended).not.toBeNull();
    expect(view.writes.at(-1)).toMatch(/\[\?1049l$/);
    expect(view.stdin.isRaw).toBe(false);
    expect(view.clock.pending).toBe(0);
  });

  it('ignores input after the end', async () => {
    const view = new View().start();
    await view.clock.advance(1_000);
    view.type('qrp');
    await view.clock.advance(100);
    expect(view.ended).toBe('quit');
    expect(view.submitted).toEqual([]);
  });

  // @conforms top.3
  it.each([
    ['there is no terminal', (view: View) => Object.assign(view.stdout, { isTTY: false })],
    ['the terminal takes no escapes', (view: View) => Object.assign(view.env, { TERM: 'dumb' })],
  ])('prints lines where %s, also about the daemon itself', async (_, prepare) => {
    const view = new View();
    prepare(view);
    view.start();
    await view.clock.advance(1_500);
    view.nows = async () => {
      throw new Error('connect \u001b[31mENOENT');
    };
    await view.clock.advance(5_000);
    view.nows = async () => [busy()];
    await view.clock.advance(1_500);
    view.stop.abort();
    await view.clock.advance(100);
    expect(view.ended).toBe('stopped');
    const lines = view.writes.join('').trimEnd().split('\n');
    expect(lines.slice(0, 2)).toEqual([
      expect.stringMatching(/^12:00:00 WORDS-7 .*\(question\): The agent asks: Which colour shall the button have\?$/),
      expect.stringMatching(/^12:00:00 WORDS-3 .*\(held\): It failed five times\.$/),
    ]);
    expect(lines.slice(5)).toEqual([
      expect.stringMatching(/^12:00:02 .*: connect ␛\[31mENOENT$/),
      expect.stringMatching(/^12:00:07 \D+$/),
    ]);
    expect(view.writes.join('')).not.toContain('\u001b');
    expect(view.stdin.isRaw).toBe(false);
  });
});
