import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openMemory } from '../../../src/agent/rehearsal/memory.ts';

const [first, second] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
const place = { script: 'say hi\n', turn: 1, step: 2, times: 0 };

function home(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-rehearsal-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'not-yet-there');
}

describe('the memory of the scripted agent', () => {
  it('survives the process if the account has a folder', () => {
    const folder = home();
    openMemory(folder, null, first).keep(place);
    expect(openMemory(folder, first, second)).toMatchObject({ threadId: first, isResumed: true, lasts: true, place });
  });

  it('is empty without a folder, and for an unknown thread', () => {
    const forgetful = openMemory(undefined, first, second);
    forgetful.keep(place);
    expect(forgetful).toMatchObject({ threadId: second, isResumed: false, lasts: false, place });
    expect(openMemory(home(), first, second)).toMatchObject({ threadId: second, isResumed: false });
  });

  it.each(['', '{', 'null', '{"script":1}', '{"script":"","turn":-1,"step":0,"times":0}'])(
    'is empty for a thread whose file is broken: %s',
    (text) => {
      const folder = home();
      mkdirSync(path.join(folder, 'threads'), { recursive: true });
      writeFileSync(path.join(folder, 'threads', `${first}.json`), text);
      expect(openMemory(folder, first, second)).toMatchObject({ threadId: second, isResumed: false });
    },
  );

  it('rejects a thread id that leads out of its folder', () => {
    const folder = home();
    openMemory(folder, null, first).keep(place);
    writeFileSync(path.join(folder, 'elsewhere.json'), JSON.stringify(place));
    expect(existsSync(path.join(folder, 'threads', '../elsewhere.json'))).toBe(true);
    expect(openMemory(folder, '../elsewhere', second).isResumed).toBe(false);
  });

  it('leaves one file per thread', () => {
    const folder = home();
    const memory = openMemory(folder, null, first);
    for (let step = 0; step < 5; step += 1) memory.keep({ ...place, step });
    expect(readdirSync(path.join(folder, 'threads'))).toEqual([`${first}.json`]);
  });
});
