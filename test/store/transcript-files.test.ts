import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { transcriptFiles } from '../../src/store/transcript-files.ts';

function scratch(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-transcripts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'transcripts');
}

it('are one file a run, for their owner only, and go with the run', async () => {
  const folder = scratch();
  const transcripts = transcriptFiles(folder);
  await transcripts.append('run-1', ['{"a":1}', '{"b":2}']);
  await transcripts.append('run-1', ['{"c":3}']);
  const file = path.join(folder, 'run-1.jsonl');
  expect(readFileSync(file, 'utf8')).toBe('{"a":1}\n{"b":2}\n{"c":3}\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await transcripts.remove(['run-1', 'never-was']);
  expect(() => statSync(file)).toThrow();
});

it('F084: what a run said is never overwritten by the runs after it, nor by a daemon that comes later', async () => {
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

it('are capped, and say so at their end', async () => {
  const folder = scratch();
  const line = JSON.stringify({ text: 'x'.repeat(90) });
  const first = transcriptFiles(folder, 250);
  for (let round = 0; round < 5; round += 1) await first.append('run-1', [line]);
  const text = readFileSync(path.join(folder, 'run-1.jsonl'), 'utf8');
  expect(text).toBe(`${line}\n${line}\n{"truncated":true}\n`);
});
