import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { scratchFolder } from './engines.ts';
import { type Program, startProgram } from './program.ts';

let scratch: ReturnType<typeof scratchFolder>;
let url: string;
let file: string;
const programs: Program[] = [];
beforeEach(() => {
  scratch = scratchFolder();
  file = path.join(scratch.folder, 'baton.db');
  url = `sqlite:${file}`;
});
afterEach(async () => {
  for (const program of programs.splice(0)) await program.kill();
  scratch.remove();
});
const start = (...args: string[]): Program => {
  const program = startProgram(...args);
  programs.push(program);
  return program;
};
const open = (mode: 'daemon' | 'visitor') => openStore({ url, clock: systemClock, mode });

describe('the lock of a store file', () => {
  // @conforms board.16
  it('refuses a second daemon and names the pid of the first, while visitors come and go', async () => {
    const first = start('hold', url);
    await first.said(1);
    const refused = { code: 'store_in_use', message: expect.stringContaining(`${first.pid}`) };
    await expect(open('daemon')).rejects.toMatchObject({ ...refused, details: { pid: first.pid, file } });
    const visitor = await open('visitor');
    await visitor.projects.ensure('p', 1);
    await visitor.close();
    await expect(open('daemon')).rejects.toMatchObject(refused);
    await first.stop();
    const second = await open('daemon');
    expect(await second.projects.list()).toHaveLength(1);
    await second.close();
  });

  it('refuses a second daemon in the same process too, and allows it afterwards', async () => {
    const first = await open('daemon');
    await expect(open('daemon')).rejects.toMatchObject({ code: 'store_in_use', details: { pid: process.pid } });
    await first.close();
    await (await open('daemon')).close();
  });

  it('is free at once after a kill', async () => {
    const killed = start('hold', url);
    await killed.said(1);
    await killed.kill();
    expect(existsSync(`${file}.pid`)).toBe(true);
    const next = await open('daemon');
    expect(JSON.parse(readFileSync(`${file}.pid`, 'utf8'))).toMatchObject({ pid: process.pid, host: os.hostname() });
    await next.close();
  });

  it('ignores a note whose pid belongs to another process now', async () => {
    await (await open('daemon')).close();
    // Process 1 lives, but it did not start then.
    writeFileSync(`${file}.pid`, JSON.stringify({ pid: 1, start_time: 123_456_789_012, host: os.hostname() }));
    await (await open('daemon')).close();
  });

  it('names no process when the note is wrong', async () => {
    const first = start('hold', url);
    await first.said(1);
    for (const note of [
      '',
      'nonsense',
      '{"pid":"7"}',
      JSON.stringify({ pid: process.pid, start_time: 1, host: os.hostname() }),
    ]) {
      writeFileSync(`${file}.pid`, note);
      await expect(open('daemon')).rejects.toMatchObject({ code: 'store_in_use', details: { file } });
    }
  });

  it('lets exactly one of several simultaneous daemons win, also after a kill', async () => {
    const killed = start('hold', url);
    await killed.said(1);
    await killed.kill();
    const racers = Array.from({ length: 4 }, () => start('hold', url));
    await Promise.all(racers.map((racer) => racer.said(1)));
    const answers = racers.map((racer) => racer.lines[0] ?? '');
    expect(answers.filter((answer) => answer === 'open')).toHaveLength(1);
    const losers = answers.filter((answer) => answer !== 'open').map((answer) => JSON.parse(answer));
    expect(losers.map(({ code }) => code)).toEqual(Array(3).fill('store_in_use'));
  });
});
