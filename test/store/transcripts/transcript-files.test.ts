import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TranscriptCursor } from '../../../src/store/transcripts/read-transcript.ts';
import { type TranscriptReader, transcriptFiles } from '../../../src/store/transcripts/transcript-files.ts';
import { transcriptLine } from '../../../src/store/transcripts/transcript-line.ts';
import { anyCharacter } from '../../any-character.ts';
import { runs } from '../../property-runs.ts';

function scratch(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-transcripts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'transcripts');
}

const line = (seq: number, text = ''): string => `{"seq":${seq},"text":${JSON.stringify(text)}}`;
/** Ten bytes with its end, for numbers of one digit. */
const short = (seq: number): string => `{"seq":${seq}}`;

/** Page by page to the end. */
async function readAll(reader: TranscriptReader, runId: string, limit = 3, from?: TranscriptCursor) {
  const lines: string[] = [];
  let cursor = from;
  for (;;) {
    const page = await reader.read(runId, { limit, ...(cursor === undefined ? {} : { cursor }) });
    expect(page.lines.length).toBeLessThanOrEqual(limit);
    if (page.lines.length === 0) return { lines, next: page.next };
    lines.push(...page.lines);
    cursor = page.next;
  }
}

const small = { totalBytes: 1_000, segmentBytes: 200 };

/** Appends lines of these lengths; now and then another life of the daemon goes on. Gives the last number. */
async function appendInLives(folder: string, batches: readonly (readonly number[])[]): Promise<number> {
  let seq = 0;
  let transcripts = transcriptFiles(folder, small);
  for (const [index, batch] of batches.entries()) {
    const from = seq + 1;
    await transcripts.append(
      'r',
      batch.map((length, place) => line(from + place, 'x'.repeat(length))),
    );
    seq += batch.length;
    if (index % 4 === 3) transcripts = transcriptFiles(folder, small);
  }
  return seq;
}

async function expectHeadAndTail(folder: string, last: number, limit: number): Promise<void> {
  const transcripts = transcriptFiles(folder, small);
  const { lines } = await readAll(transcripts, 'r', limit);
  const isGap = (text: string): boolean => text.startsWith('{"missing"');
  const seqs = lines.filter((text) => !isGap(text)).map((text) => Number(JSON.parse(text).seq));
  const missing = lines.findIndex(isGap);
  const split = missing === -1 ? seqs.length : missing;
  const [head, tail] = [seqs.slice(0, split), seqs.slice(split)];
  expect(head).toEqual(head.map((_, index) => index + 1));
  expect(tail).toEqual(tail.map((_, index) => last - tail.length + 1 + index));
  expect(seqs.at(-1) ?? 0).toBe(last);
  expect(lines.filter(isGap)).toHaveLength(missing === -1 ? 0 : 1);
  // The line about what is missing is beside the rest.
  expect(totalBytes(folder)).toBeLessThanOrEqual(small.totalBytes + 100);
  for (const wanted of last === 0 ? [] : [1, Math.ceil(last / 2), last]) {
    const cursor = await transcripts.seek('r', wanted);
    const [first] = (await transcripts.read('r', { cursor, limit: 1 })).lines;
    expect(JSON.parse(first ?? '').seq).toBe(seqs.find((each) => each >= wanted));
  }
}

function totalBytes(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);
}

describe('transcripts on disk', () => {
  it('are one file for each run, for their owner only, and are removed with the run', async () => {
    const folder = scratch();
    const transcripts = transcriptFiles(folder);
    await transcripts.append('run-1', ['{"a":1}', '{"b":2}']);
    await transcripts.append('run-1', ['{"c":3}']);
    const file = path.join(folder, 'run-1.jsonl');
    expect(readFileSync(file, 'utf8')).toBe('{"a":1}\n{"b":2}\n{"c":3}\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    await transcripts.remove(['run-1', 'never-was']);
    expect(() => statSync(file)).toThrow();
  });

  it('make an open folder and all its files private', async () => {
    const folder = scratch();
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    const transcripts = transcriptFiles(folder, { totalBytes: 40, segmentBytes: 10 });
    for (let seq = 1; seq < 9; seq += 1) await transcripts.append('r', [short(seq)]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const names = readdirSync(folder);
    expect(names).toContain('r.jsonl.gap');
    for (const name of names) expect(statSync(path.join(folder, name)).mode & 0o777, name).toBe(0o600);
  });

  // @conforms F084
  it('are never overwritten by later runs or a later daemon', async () => {
    const folder = scratch();
    const file = path.join(folder, 'run-1.jsonl');
    await transcriptFiles(folder).append('run-1', ['{"first":1}']);
    const [said, { ino }] = [readFileSync(file, 'utf8'), statSync(file)];
    const later = transcriptFiles(folder);
    for (const run of ['run-2', 'run-10', 'run']) await later.append(run, ['{"other":1}']);
    await later.remove(['run-2']);
    expect(readFileSync(file, 'utf8')).toBe(said);
    // Of the run itself only more comes.
    await later.append('run-1', ['{"second":2}']);
    expect(readFileSync(file, 'utf8')).toBe(`${said}{"second":2}\n`);
    expect(statSync(file).ino).toBe(ino);
  });

  // @conforms runs.37
  it('are capped: the beginning and the end stay, and a line says what is missing in the middle', async () => {
    const folder = scratch();
    const limits = { totalBytes: 60, segmentBytes: 20 };
    const transcripts = transcriptFiles(folder, limits);
    for (let seq = 1; seq < 10; seq += 1) await transcripts.append('r', [short(seq)]);
    // Two lines a segment; of five segments the second and the third had to go.
    const { lines } = await readAll(transcripts, 'r');
    expect(lines).toEqual([
      ...[1, 2].map(short),
      '{"missing":{"segments":2,"bytes":40},"next":4}',
      ...[7, 8, 9].map(short),
    ]);
    expect(readdirSync(folder).toSorted()).toEqual(['r.jsonl', 'r.jsonl.000004', 'r.jsonl.000005', 'r.jsonl.gap']);
    // Other runs have room of their own, and a run is removed with all that it has.
    await transcripts.append('r.jsonl', [short(1)]);
    await transcripts.append('r2', [short(1)]);
    await transcripts.remove(['r']);
    expect(readdirSync(folder).toSorted()).toEqual(['r.jsonl.jsonl', 'r2.jsonl']);
    expect((await transcripts.read('r', { limit: 9 })).lines).toEqual([]);
    await transcripts.append('r', [short(1)]);
    expect((await readAll(transcripts, 'r')).lines).toEqual([short(1)]);
  });

  it('never exceed their limit, keep the first segment and the end, and lose no line silently', async () => {
    const sizes = fc.array(fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 6 }), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 7 }), async (batches, limit) => {
        const folder = mkdtempSync(path.join(tmpdir(), 'baton-transcripts-'));
        try {
          const last = await appendInLives(folder, batches);
          await expectHeadAndTail(folder, last, limit);
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      }),
      { numRuns: runs(40) },
    );
  });

  it('keep the order of the calls, although no caller waits', async () => {
    const transcripts = transcriptFiles(scratch(), { totalBytes: 100_000, segmentBytes: 100 });
    await Promise.all(Array.from({ length: 50 }, (_, index) => transcripts.append('r', [line(index + 1)])));
    const { lines } = await readAll(transcripts, 'r', 100);
    expect(lines).toEqual(Array.from({ length: 50 }, (_, index) => line(index + 1)));
  });

  it('name no file outside their folder', async () => {
    const folder = scratch();
    const transcripts = transcriptFiles(folder);
    writeFileSync(path.join(path.dirname(folder), 'secret.jsonl'), '{"secret":1}\n');
    for (const runId of ['../secret', '/etc/passwd', '..', '.', '', 'a/b', 'a\0b', 'x'.repeat(5_000)]) {
      expect((await transcripts.read(runId, { limit: 5 })).lines).toEqual([]);
      expect(await transcripts.seek(runId, 1)).toEqual({ segment: 1, offset: 0 });
      const refusal = { code: 'internal_error', details: { run_id: runId } };
      await expect(transcripts.append(runId, ['{}'])).rejects.toMatchObject(refusal);
    }
    expect(readFileSync(path.join(path.dirname(folder), 'secret.jsonl'), 'utf8')).toBe('{"secret":1}\n');
  });
});

describe('transcripts after a crash', () => {
  it('end a cut line before the next one, and show it as torn', async () => {
    const folder = scratch();
    const file = path.join(folder, 'r.jsonl');
    await transcriptFiles(folder).append('r', [line(1)]);
    appendFileSync(file, '{"seq":2,"text":"half of 漢'.slice(0, -1));
    const next = transcriptFiles(folder);
    // Nobody can tell yet whether the rest of it comes.
    const before = await readAll(next, 'r');
    expect(before.lines).toEqual([line(1)]);
    await next.append('r', [line(3)]);
    await next.append('r', [line(4)]);
    const [torn, ...after] = (await readAll(next, 'r', 9, before.next)).lines;
    expect(JSON.parse(torn ?? '')).toEqual({ torn: { bytes: 26 - 1, begins: '{"seq":2,"text":"half of ' } });
    expect(after).toEqual([line(3), line(4)]);
  });

  // @conforms runs.38
  it('have every acknowledged line, however often their writer is killed', async () => {
    const folder = scratch();
    const acknowledged = new Set<number>();
    let last = 0;
    for (let round = 0; round < 6; round += 1) {
      const program = fileURLToPath(import.meta.resolve('../transcript-program.ts'));
      const child = spawn(process.execPath, [program, folder, `${last + 1}`], { stdio: ['ignore', 'pipe', 'inherit'] });
      const closed = once(child, 'close');
      let said = '';
      child.stdout.on('data', (data) => {
        said += data;
        if (said.length > 200 + 97 * round) child.kill('SIGKILL');
      });
      await closed;
      for (const seq of said.split('\n').filter(Boolean).map(Number)) {
        for (let each = seq - 9; each <= seq; each += 1) acknowledged.add(each);
        last = seq;
      }
      // What was written and not acknowledged is there too; the next life counts on behind it.
      last += 10;
    }
    const { lines } = await readAll(transcriptFiles(folder), 'r', 500);
    const seqs = lines.filter((text) => !text.startsWith('{"torn"')).map((text) => Number(JSON.parse(text).seq));
    expect(acknowledged.size).toBeGreaterThan(100);
    expect([...acknowledged].filter((seq) => !seqs.includes(seq))).toEqual([]);
    expect(seqs).toEqual(seqs.toSorted((left, right) => left - right));
    expect(lines.length - seqs.length).toBeLessThanOrEqual(6);
  });

  it('show a cut line at the end of a segment when the next segment has begun', async () => {
    const folder = scratch();
    const limits = { totalBytes: 1_000, segmentBytes: 30 };
    const first = transcriptFiles(folder, limits);
    await first.append('r', [short(1)]);
    appendFileSync(path.join(folder, 'r.jsonl'), '{"seq":');
    writeFileSync(path.join(folder, 'r.jsonl.000002'), `${short(3)}\n`);
    const { lines } = await readAll(first, 'r');
    expect(lines).toEqual([short(1), '{"torn":{"bytes":7,"begins":"{\\"seq\\":"}}', short(3)]);
  });

  it('continue after a crash between the note about missing lines and their removal', async () => {
    const folder = scratch();
    const limits = { totalBytes: 60, segmentBytes: 20 };
    const first = transcriptFiles(folder, limits);
    for (let seq = 1; seq < 10; seq += 1) await first.append('r', [short(seq)]);
    writeFileSync(path.join(folder, 'r.jsonl.000003'), `${short(5)}\n${short(6)}\n`);
    writeFileSync(path.join(folder, 'r.jsonl.gap-new'), '{"miss');
    const next = transcriptFiles(folder, limits);
    await next.append('r', [short(9)]);
    expect((await readAll(next, 'r')).lines.filter((text) => text.startsWith('{"seq"'))).toEqual(
      [1, 2, 7, 8, 9, 9].map(short),
    );
    expect(readdirSync(folder)).not.toContain('r.jsonl.000003');
    await next.remove(['r']);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('read garbage as torn lines, and the lines in between unchanged', async () => {
    const folder = scratch();
    const transcripts = transcriptFiles(folder);
    await transcripts.append('r', [line(1)]);
    const garbage = Buffer.concat([
      Buffer.from('no json\n\n7\nnull\n"text"\n[1]\n'),
      Buffer.from([0xff, 0xfe, 0x00, 0x0a]),
      Buffer.alloc(2_500_000, 'x'),
      Buffer.from(`\n${line(2)}\n`),
    ]);
    appendFileSync(path.join(folder, 'r.jsonl'), garbage);
    writeFileSync(path.join(folder, 'r.jsonl.gap'), 'no json either');
    const { lines } = await readAll(transcripts, 'r', 2);
    for (const text of lines) expect(typeof JSON.parse(text)).toBe('object');
    expect(lines[0]).toBe(line(1));
    expect(lines.at(-1)).toBe(line(2));
    expect(lines.filter((text) => text.startsWith('{"torn"')).length).toBeGreaterThanOrEqual(6);
  });

  it('read an invalid position as the beginning, and one beyond the end as the end', async () => {
    const transcripts = transcriptFiles(scratch());
    await transcripts.append('r', [line(1)]);
    for (const cursor of [
      { segment: 0, offset: 0 },
      { segment: Number.NaN, offset: 0 },
      { segment: 1, offset: -1 },
      { segment: 1, offset: 0.5 },
    ])
      expect((await transcripts.read('r', { cursor, limit: 9 })).lines).toEqual([line(1)]);
    for (const cursor of [
      { segment: 1, offset: 10_000 },
      { segment: 99, offset: 0 },
    ])
      expect((await transcripts.read('r', { cursor, limit: 9 })).lines).toEqual([]);
  });
});

describe('transcripts of a live run', () => {
  it('are read as they grow, each line once, over segments and removals', async () => {
    const transcripts = transcriptFiles(scratch(), { totalBytes: 2_000, segmentBytes: 400 });
    let cursor: TranscriptCursor | undefined;
    const seen: number[] = [];
    for (let seq = 1; seq <= 300; seq += 1) {
      await transcripts.append('r', [line(seq, 'abc')]);
      if (seq % 7 !== 0 && seq !== 300) continue;
      for (;;) {
        const page = await transcripts.read('r', { limit: 3, ...(cursor === undefined ? {} : { cursor }) });
        cursor = page.next;
        if (page.lines.length === 0) break;
        seen.push(
          ...page.lines.flatMap((text) => (text.startsWith('{"missing"') ? [] : [Number(JSON.parse(text).seq)])),
        );
      }
    }
    expect(seen).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
  });

  it('report missing lines to a late reader, and continue with the rest', async () => {
    const transcripts = transcriptFiles(scratch(), { totalBytes: 100, segmentBytes: 20 });
    const append = async (from: number, to: number): Promise<void> => {
      for (let seq = from; seq <= to; seq += 1) await transcripts.append('r', [short(seq)]);
    };
    await append(1, 5);
    const { next } = await readAll(transcripts, 'r');
    expect(next.segment).toBe(3);
    for (let round = 0; round < 5; round += 1) await append(1, 9);
    const { lines } = await readAll(transcripts, 'r', 50, next);
    expect(Object.keys(JSON.parse(lines[0] ?? ''))).toEqual(['missing', 'next']);
    expect(lines.at(-1)).toBe(short(9));
  });

  it('can be written again when the disk failed, and have each line once', async () => {
    const folder = scratch();
    const transcripts = transcriptFiles(folder, { totalBytes: 1_000, segmentBytes: 30 });
    await transcripts.append('r', [short(1)]);
    // A folder in the place of the next segment cannot be written to.
    const inTheWay = path.join(folder, 'r.jsonl.000002');
    mkdirSync(inTheWay);
    const lines = [2, 3, 4, 5].map(short);
    await expect(transcripts.append('r', lines)).rejects.toThrow('EISDIR');
    rmSync(inTheWay, { recursive: true });
    await transcripts.append('r', lines);
    expect((await readAll(transcripts, 'r')).lines).toEqual([1, 2, 3, 4, 5].map(short));
  });

  it('are written again to a folder that was removed', async () => {
    const folder = scratch();
    const transcripts = transcriptFiles(folder);
    await transcripts.append('r', [line(1)]);
    rmSync(folder, { recursive: true });
    await expect(transcripts.append('r', [line(2)])).rejects.toThrow('ENOENT');
    await transcripts.append('r', [line(2)]);
    expect((await readAll(transcripts, 'r')).lines).toEqual([line(2)]);
  });

  it('return pages by bytes when lines are long', async () => {
    const transcripts = transcriptFiles(scratch());
    const long = Array.from({ length: 60 }, (_, index) => line(index + 1, 'x'.repeat(200_000)));
    await transcripts.append('r', long);
    const page = await transcripts.read('r', { limit: 1_000 });
    expect(page.lines.length).toBeLessThan(30);
    expect((await readAll(transcripts, 'r', 1_000)).lines).toEqual(long);
  });
});

describe('a line of a transcript', () => {
  const entry = { seq: 7, at: 1, run: 'r', name: 'notification', pid: 4, summary: 's' };

  it('has the whole event, its number first', () => {
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
    const payload = { text: 'a\nb\u0000\u2028', list: [1, null] };
    const text = transcriptLine({ ...entry, usage, payload });
    expect(text.startsWith('{"seq":7,')).toBe(true);
    expect(text).not.toContain('\n');
    expect(JSON.parse(text)).toEqual({ ...entry, usage, payload });
    expect(JSON.parse(transcriptLine(entry))).toEqual(entry);
  });

  it('is at most 256 KB, with the size and the beginning of a larger event', () => {
    for (const text of ['x'.repeat(5_000_000), '漢'.repeat(2_000_000), '"\\\n'.repeat(500_000), '🚲'.repeat(90_000)]) {
      const cut = transcriptLine({ ...entry, payload: { text } });
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(256 * 1024);
      const whole = JSON.stringify({ text });
      const { payload_cut: found, ...rest } = JSON.parse(cut);
      expect(rest).toEqual(entry);
      expect(found.bytes).toBe(Buffer.byteLength(whole));
      expect(found.begins.length).toBeGreaterThan(60_000);
      expect(whole.startsWith(found.begins)).toBe(true);
    }
  });

  it('is JSON on one line of limited length, for any value', () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const odd = [circle, 1n, () => 1, Symbol('s'), { toJSON: () => fail() }, new Map([[1, 2]])];
    const anything = fc.oneof(fc.anything({ withBigInt: true, withNullPrototype: true }), fc.constantFrom(...odd));
    fc.assert(
      fc.property(anything, fc.string({ unit: anyCharacter }), anything, (payload, summary, usage) => {
        const text = transcriptLine({ ...entry, summary, usage, payload });
        expect(JSON.parse(text)).toMatchObject({ seq: 7, name: 'notification' });
        expect(text).not.toContain('\n');
      }),
    );
    const huge = transcriptLine({
      ...entry,
      summary: '\u0000'.repeat(1_000_000),
      usage: { model: 'm'.repeat(1_000_000) },
    });
    expect(Buffer.byteLength(huge)).toBeLessThan(256 * 1024);
  });
});

function fail(): never {
  throw new Error('no');
}
