// @module-tag full
import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { addIssue, boardWorkflow, liveTest, soon, stopDaemon } from '../cli/live-daemon.ts';
import { batonCommand, leaveNoPlaces, Place, startProgram } from '../cli/run-baton.ts';

leaveNoPlaces();

const program = path.join(import.meta.dirname, '..', 'process', 'fixtures', 'list-descriptors.ts');
/** Above those that Node itself keeps from its children. */
const inherited = 30;

/** The descriptors of a child of Baton, where the shell that started Baton had one open. */
function descriptorsOfChild(...args: string[]): readonly string[] {
  const secret = openSync(program, 'r');
  const stdio = ['ignore', 'pipe', 'pipe', ...Array(inherited - 3).fill('ignore'), secret];
  const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], { stdio, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

it('a child has no descriptor of the program that started Baton', () => {
  expect(descriptorsOfChild()).toContain(String(inherited));
  // The fourth one is the folder that `ls` reads.
  expect(descriptorsOfChild('--close')).toEqual(['0', '1', '2', '3']);
});

it('nor has the agent of a daemon, whose shell had a file open', liveTest, async () => {
  using place = new Place();
  place.write('WORKFLOW.md', boardWorkflow());
  place.write('open-in-the-shell', 'secret');
  await addIssue(place, `ls -l /proc/self/fd > ${place.folder}/descriptors; echo end >> ${place.folder}/descriptors`);
  const started = `exec ${inherited}< open-in-the-shell; ls -l /proc/self/fd; exec ${batonCommand('start')}`;
  const daemon = startProgram(place, 'bash', ['-c', `cd '${place.folder}' && ${started}`]);
  await soon(() => expect(place.read('descriptors')).toMatch(/^end$/m));
  expect(daemon.stdout()).toContain('open-in-the-shell');
  expect(place.read('descriptors')).not.toContain('open-in-the-shell');
  await stopDaemon(daemon);
});
