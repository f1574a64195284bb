import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HealthFile } from '../../src/telemetry/health-file.ts';

function open() {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-health-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'health.json');
  const errors: unknown[] = [];
  const health = new HealthFile({ path: file, onError: (error) => errors.push(error) });
  return { folder, file, errors, health, read: (): unknown => JSON.parse(readFileSync(file, 'utf8')) };
}

/** Reads the file again and again in a thread of its own, and counts how often it was whole and how often it was not, and the values. */
const reader = `
  const { workerData } = require('node:worker_threads');
  const { readFileSync } = require('node:fs');
  const { file, seen } = workerData;
  let last = -1;
  const read = () => {
    for (let each = 0; each < 50; each++) {
      try {
        const { turn, padding } = JSON.parse(readFileSync(file, 'utf8'));
        if (padding.length !== 20000 || turn < last) throw new Error('torn');
        if (turn > last) Atomics.add(seen, 2, 1);
        last = turn;
        Atomics.add(seen, 0, 1);
      } catch { Atomics.add(seen, 1, 1); }
    }
    setImmediate(read);
  };
  read();`;

describe('the health file', () => {
  it('has the given data, for its owner only, and leaves no other file', async () => {
    const { folder, file, health, read } = open();
    health.put({ running: 3 });
    await health.flush();
    expect(read()).toEqual({ running: 3 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['health.json']);
  });

  // @conforms tick.17
  it('is never seen half-written during 500 writes or more', async () => {
    const { folder, file, errors, health, read } = open();
    const padding = 'x'.repeat(20_000);
    health.put({ turn: 0, padding });
    await health.flush();
    const seen = new Int32Array(new SharedArrayBuffer(12));
    const worker = new Worker(reader, { eval: true, workerData: { file, seen } });
    let turn = 0;
    // On a busy machine the reader may begin late.
    for (let values = 0; turn < 500 || values < 10; values = Atomics.load(seen, 2)) {
      turn += 1;
      health.put({ turn, padding });
      await health.flush();
    }
    await worker.terminate();
    const [whole, half] = seen;
    expect(half).toBe(0);
    expect(whole).toBeGreaterThanOrEqual(10);
    expect(errors).toEqual([]);
    expect(read()).toMatchObject({ turn });
    expect(readdirSync(folder)).toEqual(['health.json']);
  });

  it('has the latest of several simultaneous values, as it was at the call', async () => {
    const { health, read } = open();
    const data = { turn: 0 };
    for (data.turn = 0; data.turn < 1000; data.turn++) health.put(data);
    await health.flush();
    expect(read()).toEqual({ turn: 999 });
  });

  it('skips values during a write, except the latest', async () => {
    const { folder, health, errors } = open();
    // Each write fails and so is counted.
    rmSync(folder, { recursive: true });
    for (let turn = 0; turn < 1000; turn++) health.put({ turn });
    await health.flush();
    expect(errors).toHaveLength(2);
  });

  it('has nothing to flush before the first value', async () => {
    const { folder, health } = open();
    await health.flush();
    expect(readdirSync(folder)).toEqual([]);
  });

  // @conforms tick.18
  it('reports a failed write, keeps the old content, and recovers', async () => {
    const { folder, file, health, errors, read } = open();
    // A folder in its place cannot be replaced by a file.
    mkdirSync(file);
    writeFileSync(path.join(file, 'inside'), '');
    health.put({ turn: 1 });
    await health.flush();
    expect(errors).toHaveLength(1);
    expect(readdirSync(folder)).toEqual(['health.json']);
    rmSync(file, { recursive: true });
    health.put({ turn: 2 });
    await health.flush();
    expect(read()).toEqual({ turn: 2 });
    expect(errors).toHaveLength(1);

    rmSync(folder, { recursive: true });
    health.put({ turn: 3 });
    await health.flush();
    expect(errors).toHaveLength(2);
  });

  it('does not throw for a value that is not data', async () => {
    const { health, errors, read } = open();
    const circle: { self?: unknown } = {};
    circle.self = circle;
    health.put({ turn: 1 });
    health.put(circle);
    await health.flush();
    expect(errors).toHaveLength(1);
    expect(read()).toEqual({ turn: 1 });
  });

  it('removes drafts of killed processes, and writes through none of them', async () => {
    const { folder, file, health, read } = open();
    const victim = path.join(folder, 'victim');
    writeFileSync(victim, 'untouched');
    writeFileSync(`${file}.4194999.new`, '{"half":');
    symlinkSync(victim, `${file}.${process.pid}.new`);
    writeFileSync(`${file}.notes.new`, 'not a draft');
    health.put({ turn: 1 });
    await health.flush();
    expect(readdirSync(folder).toSorted()).toEqual(['health.json', 'health.json.notes.new', 'victim']);
    expect(readFileSync(victim, 'utf8')).toBe('untouched');
    expect(statSync(file).isFile()).toBe(true);
    expect(read()).toEqual({ turn: 1 });
  });
});
